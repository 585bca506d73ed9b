// Multicast over IPv6 on the loopback interface, joined by the option of its own and by the one that knows every family.
// native: no (lo has no route for multicast over IPv6, and there may be no other interface)
#include "inet.h"

#include <net/if.h>
#include <poll.h>

static int heard(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    char data[10];

    return poll(&polled, 1, 100) == 1 && recv(fd, data, sizeof data, 0) == 1;
}

int main(void)
{
    unsigned loopback_index = if_nametoindex("lo");
    struct sockaddr_in6 name = {.sin6_family = AF_INET6};
    struct ipv6_mreq request = {.ipv6mr_interface = loopback_index};
    struct group_req by_any = {.gr_interface = loopback_index};
    socklen_t size = sizeof name;
    int hears = socket(AF_INET6, SOCK_DGRAM, 0);
    int sender = socket(AF_INET6, SOCK_DGRAM, 0);
    int value = -1;

    CHECK(bind(hears, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(getsockname(hears, (struct sockaddr *)&name, &size) == 0);
    size = sizeof value;
    CHECK(getsockopt(sender, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &value, &size) == 0 && value == 1);
    CHECK(getsockopt(sender, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &value, &size) == 0 && value == 1);
    CHECK_ERRNO(setsockopt(hears, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request), EINVAL);
    CHECK(inet_pton(AF_INET6, "ff02::1234", &request.ipv6mr_multiaddr) == 1);
    CHECK(setsockopt(sender, IPPROTO_IPV6, IPV6_MULTICAST_IF, &loopback_index, sizeof loopback_index) == 0);
    name.sin6_addr = request.ipv6mr_multiaddr;
    CHECK(sendto(sender, "x", 1, 0, (struct sockaddr *)&name, sizeof name) == 1 && !heard(hears));
    CHECK(setsockopt(hears, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request) == 0);
    CHECK(sendto(sender, "x", 1, 0, (struct sockaddr *)&name, sizeof name) == 1 && heard(hears));
    CHECK(setsockopt(hears, IPPROTO_IPV6, IPV6_LEAVE_GROUP, &request, sizeof request) == 0);
    CHECK(sendto(sender, "x", 1, 0, (struct sockaddr *)&name, sizeof name) == 1 && !heard(hears));
    memcpy(&by_any.gr_group, &name, sizeof name);
    CHECK(setsockopt(hears, IPPROTO_IPV6, MCAST_JOIN_GROUP, &by_any, sizeof by_any) == 0);
    CHECK(sendto(sender, "x", 1, 0, (struct sockaddr *)&name, sizeof name) == 1 && heard(hears));
    return succeed();
}
