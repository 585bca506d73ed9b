// A non-blocking connect ends by becoming writable; SO_ERROR tells how, once. The next connect succeeds if it did, later ones do not.
#include "inet.h"

#include <poll.h>

static int result_of(in_port_t port)
{
    struct sockaddr_in name = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct pollfd polled = {.fd = fd, .events = POLLOUT};
    int error = -1;
    socklen_t size = sizeof error;

    CHECK(fd >= 0);
    if (connect(fd, (struct sockaddr *)&name, sizeof name) != 0) {
        if (errno == ECONNREFUSED)
            return errno;
        CHECK(errno == EINPROGRESS);
    }
    CHECK(poll(&polled, 1, 5000) == 1 && (polled.revents & POLLOUT));
    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && size == sizeof error);
    if (error == 0) {
        CHECK(connect(fd, (struct sockaddr *)&name, sizeof name) == 0);
        CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EISCONN);
        CHECK(write(fd, "x", 1) == 1);
    }
    CHECK(close(fd) == 0);
    return error;
}

int main(void)
{
    int listener = listening_socket(5);
    in_port_t port = port_of(listener);
    char byte;
    int fd;

    CHECK(result_of(port) == 0);
    fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0 && read(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 0);
    CHECK(close(listener) == 0);
    CHECK(result_of(port) == ECONNREFUSED);
    return succeed();
}
