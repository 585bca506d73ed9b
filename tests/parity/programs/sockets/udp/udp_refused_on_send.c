// A connected datagram socket whose peer does not exist learns so at its second send.
#include "inet.h"

int main(void)
{
    int gone = bound_socket(SOCK_DGRAM);
    struct sockaddr_in to = loopback(port_of(gone));
    int fd = bound_socket(SOCK_DGRAM);

    CHECK(close(gone) == 0);
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    CHECK(send(fd, "x", 1, 0) == 1);
    sleep_ms(5);
    CHECK_ERRNO(send(fd, "x", 1, 0), ECONNREFUSED);
    CHECK(send(fd, "x", 1, 0) == 1);
    return succeed();
}
