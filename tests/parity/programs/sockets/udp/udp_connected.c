// A connected datagram socket sends without an address, and hears its peer alone.
#include "inet.h"

int main(void)
{
    int one = bound_socket(SOCK_DGRAM);
    int two = bound_socket(SOCK_DGRAM);
    int stranger = bound_socket(SOCK_DGRAM);
    struct sockaddr_in name_one = loopback(port_of(one));
    struct sockaddr_in name_two = loopback(port_of(two));
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    char data[20];

    CHECK(connect(one, (struct sockaddr *)&name_two, sizeof name_two) == 0);
    CHECK(getpeername(one, (struct sockaddr *)&peer, &size) == 0 && peer.sin_port == name_two.sin_port);
    CHECK(send(one, "abc", 3, 0) == 3 && write(one, "de", 2) == 2);
    CHECK(recv(two, data, sizeof data, 0) == 3 && read(two, data, sizeof data) == 2);
    CHECK(sendto(stranger, "x", 1, 0, (struct sockaddr *)&name_one, sizeof name_one) == 1);
    CHECK(sendto(two, "yy", 2, 0, (struct sockaddr *)&name_one, sizeof name_one) == 2);
    CHECK(recv(one, data, sizeof data, 0) == 2);
    CHECK_ERRNO(recv(one, data, sizeof data, MSG_DONTWAIT), EAGAIN);
    return succeed();
}
