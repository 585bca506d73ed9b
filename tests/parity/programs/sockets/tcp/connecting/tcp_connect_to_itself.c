// A connection within a host is made within connect: who does not wait for it finds it made, or refused, right afterwards.
#include "inet.h"

#include <poll.h>

static int begun_to(in_port_t port)
{
    struct sockaddr_in name = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EINPROGRESS);
    return fd;
}

int main(void)
{
    int listener = listening_socket(1);
    struct pollfd entries[2] = {{.events = POLLOUT}, {.events = POLLOUT}};
    socklen_t size = sizeof(int);
    int unused = bound_socket(SOCK_STREAM);
    int error = 0;
    int refused;

    entries[0].fd = begun_to(port_of(listener));
    entries[1].fd = accept(listener, NULL, NULL);
    CHECK(entries[1].fd >= 0);
    CHECK(poll(entries, 2, 0) == 2 && entries[0].revents == POLLOUT && entries[1].revents == POLLOUT);
    CHECK(getsockopt(entries[0].fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0);
    refused = begun_to(port_of(unused));
    CHECK(getsockopt(refused, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == ECONNREFUSED);
    return succeed();
}
