/* A request that is sent again because its answer is late is done twice. Mended: requests have numbers. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define REQUESTS 3

static const struct sockaddr_in SERVER = {.sin_family = AF_INET, .sin_port = 0x581b};

static int serve(void)
{
    int server = socket(AF_INET, SOCK_DGRAM, 0), done = 0, latest = 0;
    struct timeval patience = {.tv_sec = 2};
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    int number;

    bind(server, (const struct sockaddr *)&SERVER, sizeof SERVER);
    setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while (recvfrom(server, &number, sizeof number, 0, (struct sockaddr *)&from, &size) == sizeof number) {
#ifdef MENDED
        if (number > latest)
#endif
            done++;
        latest = number > latest ? number : latest;
        sendto(server, &number, sizeof number, 0, (struct sockaddr *)&from, size);
    }
    return done != REQUESTS;
}

static int ask(const char *server)
{
    struct sockaddr_in address = SERVER;
    struct timeval patience = {.tv_usec = 50000};
    int client = socket(AF_INET, SOCK_DGRAM, 0), answer;

    inet_pton(AF_INET, server, &address.sin_addr);
    connect(client, (struct sockaddr *)&address, sizeof address);
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    usleep(500000);
    for (int number = 1; number <= REQUESTS; number++)
        do
            send(client, &number, sizeof number, 0);
        while (recv(client, &answer, sizeof answer, 0) != sizeof answer || answer != number);
    return 0;
}

int main(int count, char **words)
{
    return count == 1 ? serve() : ask(words[1]);
}
