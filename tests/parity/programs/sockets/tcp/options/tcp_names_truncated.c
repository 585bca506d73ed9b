// A buffer too small for the name is filled as far as it goes, and the true size is told.
#include "inet.h"

int main(void)
{
    struct sockaddr_in whole = loopback(0);
    char part[sizeof whole];
    socklen_t size = 4;
    int fd = listening_socket(1);

    whole.sin_port = port_of(fd);
    memset(part, 0x55, sizeof part);
    CHECK(getsockname(fd, (struct sockaddr *)part, &size) == 0 && size == sizeof whole);
    CHECK(memcmp(part, &whole, 4) == 0 && part[4] == 0x55);
    CHECK_ERRNO(getsockname(0x7fff, (struct sockaddr *)part, &size), EBADF);
    CHECK(dup2(open("/dev/null", O_RDONLY), fd) == fd);
    CHECK_ERRNO(getsockname(fd, (struct sockaddr *)part, &size), ENOTSOCK);
    return succeed();
}
