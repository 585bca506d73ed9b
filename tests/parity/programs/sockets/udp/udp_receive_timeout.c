// SO_RCVTIMEO bounds recvfrom on a datagram socket; a port in use is refused to a second socket.
#include "inet.h"

int main(void)
{
    struct timeval limit = {.tv_usec = 40000};
    int fd = bound_socket(SOCK_DGRAM);
    int other = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in name = loopback(port_of(fd));
    int64_t start_ns = now_ns();
    char byte;

    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK_ERRNO(recvfrom(fd, &byte, 1, 0, NULL, NULL), EAGAIN);
    CHECK_ELAPSED(start_ns, 40);
    CHECK_ERRNO(bind(other, (struct sockaddr *)&name, sizeof name), EADDRINUSE);
    CHECK(close(fd) == 0);
    CHECK(bind(other, (struct sockaddr *)&name, sizeof name) == 0);
    return succeed();
}
