// Filters of multicast sources are not kept: whoever asks for one is refused, rather than told what it did not want to hear.
// native: no (Linux keeps them)
// warns: multicast source filter
#include "inet.h"

int main(void)
{
    struct ip_mreq_source request = {.imr_multiaddr = {inet_addr("232.1.2.3")}, .imr_sourceaddr = {inet_addr("10.0.0.2")}};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    CHECK_ERRNO(setsockopt(fd, IPPROTO_IP, IP_ADD_SOURCE_MEMBERSHIP, &request, sizeof request), ENOPROTOOPT);
    return succeed();
}
