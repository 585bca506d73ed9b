/* A server takes each failure of epoll_wait(2) for the end of the world: EINTR comes even without any handler, after a stop
 * and SIGCONT (signal(7)). Mended: the server asks again. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static const struct sockaddr_in SERVER = {.sin_family = AF_INET, .sin_port = 0x581b};

static int serve(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int server = socket(AF_INET, SOCK_DGRAM, 0), poller = epoll_create1(0);
    char word = 0;

    if (bind(server, (const struct sockaddr *)&SERVER, sizeof SERVER) != 0 ||
        epoll_ctl(poller, EPOLL_CTL_ADD, server, &event) != 0)
        return 2;
    while (word != 'e') {
        struct sockaddr_in from;
        socklen_t size = sizeof from;

        if (epoll_wait(poller, &event, 1, -1) != 1) {
#ifdef MENDED
            if (errno == EINTR)
                continue;
#endif
            return 1;
        }
        if (recvfrom(server, &word, 1, 0, (struct sockaddr *)&from, &size) == 1)
            sendto(server, &word, 1, 0, (struct sockaddr *)&from, size);
    }
    return 0;
}

/* Ask 20 times, and say that this is the end; the server may not answer for a while. */
static int ask(const char *address)
{
    struct sockaddr_in server = SERVER;
    struct timeval patience = {.tv_sec = 1};
    int client = socket(AF_INET, SOCK_DGRAM, 0), answered = 0;

    inet_pton(AF_INET, address, &server.sin_addr);
    if (connect(client, (struct sockaddr *)&server, sizeof server) != 0 ||
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0)
        return 2;
    for (int tries = 0; answered < 20 && tries < 60; tries++) {
        char word = answered == 19 ? 'e' : 'a';

        answered += send(client, &word, 1, 0) == 1 && recv(client, &word, 1, 0) == 1;
        sleep(1);
    }
    return 0;
}

int main(int count, char **words)
{
    return count == 1 ? serve() : ask(words[1]);
}
