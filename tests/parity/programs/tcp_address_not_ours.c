// An address that this host does not have cannot be bound; calls that need a connection are refused without one.
#include "inet.h"

int main(void)
{
    struct sockaddr_in name = loopback(0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    name.sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1, for documentation only */
    CHECK_ERRNO(bind(fd, (struct sockaddr *)&name, sizeof name), EADDRNOTAVAIL);
    CHECK_ERRNO(accept(fd, NULL, NULL), EINVAL);
    CHECK_ERRNO(socket(AF_INET, 99, 0), EINVAL);
    CHECK_ERRNO(recv(fd, &name, sizeof name, 0), ENOTCONN);
    CHECK_ERRNO(send(fd, &name, sizeof name, MSG_NOSIGNAL), EPIPE);
    CHECK_ERRNO(shutdown(fd, SHUT_WR), ENOTCONN);
    return succeed();
}
