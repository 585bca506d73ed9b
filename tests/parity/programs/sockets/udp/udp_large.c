// A datagram of 60,000 bytes arrives whole, and one that is too large is refused.
#include "inet.h"

static char out[70000], in[70000];

int main(void)
{
    int one = bound_socket(SOCK_DGRAM);
    int two = bound_socket(SOCK_DGRAM);
    struct sockaddr_in to = loopback(port_of(two));

    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (char)(i % 251);
    CHECK(sendto(one, out, 60000, 0, (struct sockaddr *)&to, sizeof to) == 60000);
    CHECK(recv(two, in, sizeof in, 0) == 60000 && memcmp(in, out, 60000) == 0);
    CHECK_ERRNO(sendto(one, out, sizeof out, 0, (struct sockaddr *)&to, sizeof to), EMSGSIZE);
    return succeed();
}
