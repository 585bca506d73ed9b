// Connecting a datagram socket to AF_UNSPEC frees it: it has no peer, and can be connected again.
#include "inet.h"

int main(void)
{
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    int one = bound_socket(SOCK_DGRAM);
    int two = bound_socket(SOCK_DGRAM);
    struct sockaddr_in name_two = loopback(port_of(two));
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    char data[20];

    CHECK(connect(one, (struct sockaddr *)&name_two, sizeof name_two) == 0);
    CHECK(connect(one, &nobody, sizeof nobody) == 0);
    CHECK_ERRNO(getpeername(one, (struct sockaddr *)&peer, &size), ENOTCONN);
    CHECK_ERRNO(send(one, "x", 1, 0), EDESTADDRREQ);
    CHECK(connect(one, (struct sockaddr *)&name_two, sizeof name_two) == 0 && send(one, "x", 1, 0) == 1);
    CHECK(recv(two, data, sizeof data, 0) == 1);
    return succeed();
}
