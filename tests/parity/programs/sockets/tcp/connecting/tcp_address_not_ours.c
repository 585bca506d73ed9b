// An address that this host does not have cannot be bound, for TCP or for UDP; one that it has can.
#include "inet.h"

int main(void)
{
    struct sockaddr_in name = loopback(0);
    int stream = socket(AF_INET, SOCK_STREAM, 0);
    int datagram = socket(AF_INET, SOCK_DGRAM, 0);

    name.sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1, for documentation only */
    CHECK_ERRNO(bind(stream, (struct sockaddr *)&name, sizeof name), EADDRNOTAVAIL);
    CHECK_ERRNO(bind(datagram, (struct sockaddr *)&name, sizeof name), EADDRNOTAVAIL);
    name = loopback(0);
    CHECK(bind(stream, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(bind(datagram, (struct sockaddr *)&name, sizeof name) == 0);
    return succeed();
}
