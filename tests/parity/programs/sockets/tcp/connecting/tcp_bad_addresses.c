// Addresses of the wrong size or family are refused, each with its error.
#include "inet.h"

int main(void)
{
    struct sockaddr_in name = loopback(htons(80));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int datagram = socket(AF_INET, SOCK_DGRAM, 0);

    CHECK_ERRNO(bind(fd, (struct sockaddr *)&name, 4), EINVAL);
    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, 8), EINVAL);
    CHECK_ERRNO(sendto(datagram, "x", 1, 0, (struct sockaddr *)&name, 8), EINVAL);
    name.sin_family = AF_INET6;
    CHECK_ERRNO(bind(fd, (struct sockaddr *)&name, sizeof name), EAFNOSUPPORT);
    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EAFNOSUPPORT);
    name.sin_family = AF_UNIX;
    CHECK_ERRNO(bind(fd, (struct sockaddr *)&name, sizeof name), EAFNOSUPPORT);
    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EAFNOSUPPORT);
    CHECK_ERRNO(connect(fd, NULL, sizeof name), EFAULT);
    return succeed();
}
