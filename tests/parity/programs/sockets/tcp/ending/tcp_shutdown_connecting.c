// shutdown of a stream that connects ends the attempt with ECONNRESET; of a listener, it ends the listening.
#include "inet.h"

#include <poll.h>

/* A stream whose SYN is not answered, since the listener's queue is full. */
static int connecting_to(in_port_t port)
{
    struct sockaddr_in name = loopback(port);
    int fd = -1;

    for (int i = 0; i < 4; i++) {
        fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EINPROGRESS);
    }
    return fd;
}

static void check_connecting(int how)
{
    int listener = listening_socket(0);
    struct sockaddr_in name = loopback(port_of(listener));
    struct sockaddr_in other = loopback(port_of(listening_socket(1)));
    int fd = connecting_to(name.sin_port);
    struct pollfd entry = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;
    char byte;

    CHECK(poll(&entry, 1, 0) == 0);
    CHECK(shutdown(fd, how) == 0);
    CHECK(poll(&entry, 1, 0) == 1 && (entry.revents & (POLLERR | POLLHUP)) == (POLLERR | POLLHUP));
    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == ECONNRESET);
    CHECK_ERRNO(recv(fd, &byte, 1, 0), ENOTCONN);
    CHECK_ERRNO(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
    CHECK_ERRNO(connect(fd, (struct sockaddr *)&other, sizeof other), EINPROGRESS);
    entry.revents = 0;
    CHECK(poll(&entry, 1, 1000) == 1 && entry.revents == POLLOUT);
    CHECK(send(fd, "x", 1, MSG_NOSIGNAL) == 1);
}

static void check_listener(int how)
{
    int listener = listening_socket(2);
    int client = connected_to(port_of(listener));
    char byte;

    CHECK(shutdown(listener, how) == 0);
    CHECK_ERRNO(accept(listener, NULL, NULL), EINVAL);
    CHECK_ERRNO(recv(client, &byte, 1, 0), ECONNRESET);
}

int main(void)
{
    int fresh = socket(AF_INET, SOCK_STREAM, 0);

    CHECK_ERRNO(shutdown(fresh, -1), EINVAL);
    CHECK_ERRNO(shutdown(fresh, 3), EINVAL);
    CHECK_ERRNO(shutdown(fresh, SHUT_RDWR), ENOTCONN);
    for (int how = SHUT_RD; how <= SHUT_RDWR; how++)
        check_connecting(how);
    check_listener(SHUT_RD);
    check_listener(SHUT_RDWR);
    return succeed();
}
