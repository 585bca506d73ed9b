/* Stop and wait, whose acknowledgements may be lost: the sender waits for ever. Mended: it sends again. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define MESSAGES 20

static const struct sockaddr_in SERVER = {.sin_family = AF_INET, .sin_port = 0x581b};

static int serve(void)
{
    int server = socket(AF_INET, SOCK_DGRAM, 0);
    struct timeval patience = {.tv_sec = 60};
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    int number;

    bind(server, (const struct sockaddr *)&SERVER, sizeof SERVER);
    setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while (recvfrom(server, &number, sizeof number, 0, (struct sockaddr *)&from, &size) == sizeof number)
        sendto(server, &number, sizeof number, 0, (struct sockaddr *)&from, size);
    return 0;
}

static int tell(const char *server)
{
    struct sockaddr_in address = SERVER;
    struct timeval patience = {.tv_sec = 1};
    int client = socket(AF_INET, SOCK_DGRAM, 0), answer = 0;

    inet_pton(AF_INET, server, &address.sin_addr);
    connect(client, (struct sockaddr *)&address, sizeof address);
#ifdef MENDED
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
#else
    (void)patience;
#endif
    for (int number = 1; number <= MESSAGES; number++) {
        usleep(500000);
        do
            send(client, &number, sizeof number, 0);
        while (recv(client, &answer, sizeof answer, 0) != sizeof answer || answer != number);
    }
    return 0;
}

int main(int count, char **words)
{
    return count == 1 ? serve() : tell(words[1]);
}
