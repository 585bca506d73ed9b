// getifaddrs and SIOCGIFCONF show a loopback interface with 127.0.0.1 that is up.
#include "inet.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>

int main(void)
{
    struct ifreq requests[30];
    struct ifconf list = {.ifc_len = sizeof requests, .ifc_req = requests};
    struct ifaddrs *interfaces;
    int found = 0;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    CHECK(getifaddrs(&interfaces) == 0);
    for (struct ifaddrs *one = interfaces; one != NULL; one = one->ifa_next) {
        struct sockaddr_in *address = (void *)one->ifa_addr;

        if (address != NULL && address->sin_family == AF_INET && ntohl(address->sin_addr.s_addr) == INADDR_LOOPBACK)
            found += (one->ifa_flags & IFF_LOOPBACK) && (one->ifa_flags & IFF_UP);
    }
    freeifaddrs(interfaces);
    CHECK(found == 1);
    CHECK(ioctl(fd, SIOCGIFCONF, &list) == 0 && list.ifc_len >= (int)sizeof *requests);
    CHECK(if_nametoindex("lo") > 0);
    return succeed();
}
