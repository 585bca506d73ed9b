// Listeners that share a port by SO_REUSEPORT share the connections; datagrams of one sender go to one of two sockets.
#include "inet.h"

#include <poll.h>

static in_port_t port;

static int sharing(int type)
{
    struct sockaddr_in name = loopback(port);
    int fd = socket(AF_INET, type | SOCK_NONBLOCK, 0);
    int on = 1;

    CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0);
    CHECK(bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
    port = port_of(fd);
    return fd;
}

static int count_accepted(int fd)
{
    int count = 0;

    while (accept(fd, NULL, NULL) >= 0)
        count++;
    return count;
}

static int count_received(int fd)
{
    char byte;
    int count = 0;

    while (recv(fd, &byte, 1, 0) == 1)
        count++;
    return count;
}

int main(void)
{
    int first = sharing(SOCK_STREAM);
    int second = sharing(SOCK_STREAM);
    struct sockaddr_in to;
    int counts[2];
    int fd;

    CHECK(listen(first, 64) == 0 && listen(second, 64) == 0);
    for (int i = 0; i < 40; i++)
        connected_to(port);
    counts[0] = count_accepted(first);
    counts[1] = count_accepted(second);
    CHECK(counts[0] + counts[1] == 40 && counts[0] > 4 && counts[1] > 4);
    port = 0;
    first = sharing(SOCK_DGRAM);
    second = sharing(SOCK_DGRAM);
    to = loopback(port);
    fd = bound_socket(SOCK_DGRAM);
    for (int i = 0; i < 10; i++)
        CHECK(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1);
    sleep_ms(10);
    counts[0] = count_received(first);
    counts[1] = count_received(second);
    CHECK(counts[0] + counts[1] == 10 && (counts[0] == 0 || counts[1] == 0));
    return succeed();
}
