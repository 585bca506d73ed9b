// A non-blocking connect that is refused is told by poll as an error, POLLERR and POLLHUP, and then by SO_ERROR.
#include "inet.h"

#include <poll.h>

int main(void)
{
    struct sockaddr_in name = loopback(port_of(bound_socket(SOCK_STREAM)));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct pollfd polled = {.fd = fd, .events = POLLOUT};
    int error = -1;
    socklen_t size = sizeof error;

    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EINPROGRESS);
    CHECK(poll(&polled, 1, 5000) == 1 && polled.revents == (POLLOUT | POLLERR | POLLHUP));
    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == ECONNREFUSED);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0);
    return succeed();
}
