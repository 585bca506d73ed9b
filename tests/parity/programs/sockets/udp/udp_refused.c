// A connected datagram socket whose peer does not exist learns so: ECONNREFUSED on a later receive.
#include "inet.h"

int main(void)
{
    int gone = bound_socket(SOCK_DGRAM);
    struct sockaddr_in to = loopback(port_of(gone));
    int fd = bound_socket(SOCK_DGRAM);
    char byte;

    CHECK(close(gone) == 0);
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    CHECK(send(fd, "x", 1, 0) == 1);
    CHECK_ERRNO(recv(fd, &byte, 1, 0), ECONNREFUSED);
    return succeed();
}
