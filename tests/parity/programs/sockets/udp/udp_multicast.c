// Multicast on the loopback interface: joining and leaving, own copies (IP_MULTICAST_LOOP), groups that others have joined
// (IP_MULTICAST_ALL), and what is asked or wanted wrongly.
#include "inet.h"

#include <poll.h>

#define GROUP "239.1.2.3"

static in_port_t port;

static int receiver(in_addr_t address)
{
    return udp_receiver(address, &port);
}

static int member(int fd, int option)
{
    struct ip_mreq request = {.imr_multiaddr = {inet_addr(GROUP)}, .imr_interface = {htonl(INADDR_LOOPBACK)}};

    return setsockopt(fd, IPPROTO_IP, option, &request, sizeof request);
}

static int heard(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    char data[10];

    return poll(&polled, 1, 100) == 1 && recv(fd, data, sizeof data, 0) == 1;
}

static void set(int fd, int option, int value)
{
    CHECK(setsockopt(fd, IPPROTO_IP, option, &value, sizeof value) == 0);
}

static void check_options(int fd)
{
    struct in_addr own;
    struct ip_mreq wrong = {.imr_multiaddr = {inet_addr("10.1.2.3")}};
    struct ip_mreqn nowhere = {.imr_multiaddr = {inet_addr(GROUP)}, .imr_ifindex = 99};
    int value = -1;
    socklen_t size = sizeof value;

    CHECK(getsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &value, &size) == 0 && value == 1);
    CHECK(getsockopt(fd, IPPROTO_IP, IP_MULTICAST_LOOP, &value, &size) == 0 && value == 1);
    CHECK(getsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &value, &size) == 0 && value == 1);
    own.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &own, sizeof own) == 0);
    own.s_addr = 0;
    size = sizeof own;
    CHECK(getsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &own, &size) == 0 && own.s_addr == htonl(INADDR_LOOPBACK));
    CHECK_ERRNO(setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &wrong, sizeof wrong), EINVAL);
    CHECK_ERRNO(setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &nowhere, sizeof nowhere), ENODEV);
}

int main(void)
{
    int joined = receiver(INADDR_ANY);
    int other = receiver(INADDR_ANY);
    int bound = receiver(inet_addr(GROUP));
    int sender = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port, .sin_addr = {.s_addr = inet_addr(GROUP)}};

    check_options(sender);
    CHECK(sendto(sender, "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1);
    CHECK(!heard(joined) && !heard(other) && !heard(bound));
    CHECK(member(joined, IP_ADD_MEMBERSHIP) == 0);
    CHECK_ERRNO(member(joined, IP_ADD_MEMBERSHIP), EADDRINUSE);
    CHECK_ERRNO(member(other, IP_DROP_MEMBERSHIP), EADDRNOTAVAIL);
    CHECK(sendto(sender, "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1);
    CHECK(heard(joined) && heard(other) && heard(bound));
    set(other, IP_MULTICAST_ALL, 0);
    CHECK(connect(sender, (struct sockaddr *)&to, sizeof to) == 0 && send(sender, "x", 1, 0) == 1);
    CHECK(heard(joined) && !heard(other) && heard(bound));
    set(sender, IP_MULTICAST_LOOP, 0);
    CHECK(send(sender, "x", 1, 0) == 1 && heard(joined)); /* this interface brings everything back */
    set(sender, IP_MULTICAST_LOOP, 1);
    CHECK(member(joined, IP_DROP_MEMBERSHIP) == 0);
    CHECK(sendto(sender, "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1 && !heard(joined));
    return succeed();
}
