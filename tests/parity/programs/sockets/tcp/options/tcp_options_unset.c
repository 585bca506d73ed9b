// What options are before they are set: those as long as what was set are empty (sshd refuses a peer that has any IP options), numbers
// have the kernel's defaults, and what can only be set, or belongs to other sockets, is refused.
#include "inet.h"

static int number(int fd, int level, int option)
{
    int value = -12345;
    socklen_t size = sizeof value;

    CHECK(getsockopt(fd, level, option, &value, &size) == 0 && size == sizeof value);
    return value;
}

static void check_refused(int fd)
{
    struct ucred peer = {1, 1, 1};
    int value;
    socklen_t size = sizeof value;

    CHECK_ERRNO(getsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &value, &size), ENOPROTOOPT);
    CHECK_ERRNO(getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &value, &size), EOPNOTSUPP);
    CHECK_ERRNO(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &value, size), ENOPROTOOPT);
    size = sizeof peer;
    CHECK(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0);
    CHECK(peer.pid == 0 && peer.uid == (uid_t)-1 && peer.gid == (gid_t)-1);
}

static void check_values(int fd)
{
    int value = 0;
    char name[16] = "nosuch";

    CHECK_ERRNO(setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &value, sizeof value), EINVAL);
    CHECK_ERRNO(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, sizeof name), ENOENT);
    CHECK(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4) == 0);
    value = 7;
    CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, sizeof value) == 0 && number(fd, IPPROTO_TCP, TCP_NODELAY) == 1);
    value = 256;
    CHECK_ERRNO(setsockopt(fd, IPPROTO_IP, IP_TTL, &value, sizeof value), EINVAL);
    value = 9;
    CHECK(setsockopt(fd, IPPROTO_IP, IP_TTL, &value, 1) == 0 && number(fd, IPPROTO_IP, IP_TTL) == 9);
}

int main(void)
{
    char options[40];
    socklen_t size = sizeof options;
    int ends[2];

    tcp_pair(ends);
    CHECK(getsockopt(ends[1], IPPROTO_IP, IP_OPTIONS, options, &size) == 0 && size == 0);
    CHECK(number(ends[0], IPPROTO_TCP, TCP_KEEPIDLE) == 7200 && number(ends[0], IPPROTO_TCP, TCP_KEEPINTVL) == 75);
    CHECK(number(ends[0], IPPROTO_TCP, TCP_KEEPCNT) == 9 && number(ends[0], IPPROTO_TCP, TCP_SYNCNT) == 6);
    CHECK(number(ends[0], IPPROTO_TCP, TCP_USER_TIMEOUT) == 0 && number(ends[0], IPPROTO_TCP, TCP_NODELAY) == 0);
    CHECK(number(ends[0], IPPROTO_IP, IP_TTL) == 64 && number(ends[0], IPPROTO_IP, IP_MULTICAST_TTL) == 1);
    CHECK(number(ends[0], IPPROTO_IP, IP_MTU) == 65535);
    check_refused(ends[0]);
    check_values(ends[0]);
    return succeed();
}
