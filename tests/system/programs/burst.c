/* burst HOST PORT BYTES SECONDS: sleeps so long, then sends so many bytes to a port and waits until the other side has closed. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int connected(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    int fd;

    if (getaddrinfo(host, port, &hints, &found) != 0)
        exit(2);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
        perror("connect");
        exit(1);
    }
    return fd;
}

int main(int count, char **arguments)
{
    static char block[65536];
    struct timespec until;
    size_t left;
    int fd;

    if (count != 5)
        return 2;
    left = strtoul(arguments[3], NULL, 10);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += atoi(arguments[4]);
    until.tv_nsec = 0;
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
    fd = connected(arguments[1], arguments[2]);
    while (left > 0) {
        ssize_t written = write(fd, block, left < sizeof block ? left : sizeof block);

        if (written < 0) {
            perror("write");
            return 1;
        }
        left -= (size_t)written;
    }
    shutdown(fd, SHUT_WR);
    while (read(fd, block, sizeof block) > 0)
        ;
    return 0;
}
