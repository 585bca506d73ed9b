// Ping sockets and raw sockets for ICMP: what they send, what they are answered, and what they refuse.
// native: no (ping sockets are closed to most groups, raw sockets need CAP_NET_RAW; as root in a network namespace it succeeds)
#include "inet.h"

#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <sys/uio.h>

enum { IDENTIFIER = 4711 };

static unsigned short checksum_of(const void *data, size_t size)
{
    const unsigned short *word = data;
    unsigned sum = 0;

    for (; size > 1; size -= 2)
        sum += *word++;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (unsigned short)~sum;
}

static void ping_socket(void)
{
    struct sockaddr_in own = loopback(htons(IDENTIFIER)), target = loopback(0);
    struct icmphdr echo = {.type = ICMP_ECHO, .un.echo = {.id = htons(1), .sequence = htons(7)}};
    struct icmphdr bad = {.type = ICMP_ECHOREPLY};
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    int fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP), value;
    char answer[100];

    CHECK(fd >= 0);
    CHECK(bind(fd, (struct sockaddr *)&own, sizeof own) == 0 && port_of(fd) == htons(IDENTIFIER));
    CHECK(getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &(socklen_t){sizeof value}) == 0 && value == IPPROTO_ICMP);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &(socklen_t){sizeof value}) == 0 && value == SOCK_DGRAM);
    CHECK_ERRNO(send(fd, &echo, sizeof echo, 0), EDESTADDRREQ);
    CHECK_ERRNO(sendto(fd, &bad, sizeof bad, 0, (struct sockaddr *)&target, sizeof target), EINVAL);
    CHECK_ERRNO(sendto(fd, &echo, sizeof echo - 1, 0, (struct sockaddr *)&target, sizeof target), EINVAL);
    CHECK(sendto(fd, &echo, sizeof echo, 0, (struct sockaddr *)&target, sizeof target) == sizeof echo);
    CHECK(recvfrom(fd, answer, sizeof answer, 0, (struct sockaddr *)&from, &size) == sizeof echo);
    CHECK(from.sin_addr.s_addr == htonl(INADDR_LOOPBACK) && from.sin_port == 0);
    memcpy(&echo, answer, sizeof echo);
    CHECK(echo.type == ICMP_ECHOREPLY && echo.code == 0 && echo.un.echo.sequence == htons(7));
    CHECK(echo.un.echo.id == htons(IDENTIFIER) && checksum_of(&echo, sizeof echo) == 0);
    CHECK(connect(fd, (struct sockaddr *)&target, sizeof target) == 0);
    echo.type = ICMP_ECHO;
    CHECK(send(fd, &echo, sizeof echo, 0) == sizeof echo && read(fd, answer, sizeof answer) == sizeof echo);
    CHECK(close(fd) == 0);
}

static void ping_socket_6(void)
{
    struct sockaddr_in6 target = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct icmp6hdr echo = {.icmp6_type = ICMPV6_ECHO_REQUEST};
    int fd = socket(AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6);

    CHECK(fd >= 0);
    CHECK(sendto(fd, &echo, sizeof echo, 0, (struct sockaddr *)&target, sizeof target) == sizeof echo);
    CHECK(read(fd, &echo, sizeof echo) == sizeof echo && echo.icmp6_type == ICMPV6_ECHO_REPLY);
    CHECK(close(fd) == 0);
    CHECK_ERRNO(socket(AF_INET6, SOCK_DGRAM, IPPROTO_ICMP), EPROTONOSUPPORT);
    CHECK_ERRNO(socket(AF_INET, SOCK_STREAM, IPPROTO_ICMP), EPROTONOSUPPORT);
}

static void raw_socket(void)
{
    struct icmp_filter answers_only = {.data = ~(1U << ICMP_ECHOREPLY)};
    struct sockaddr_in target = loopback(0), from;
    struct icmphdr echo = {.type = ICMP_ECHO, .un.echo = {.id = htons(9)}};
    int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP), all = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    socklen_t size = sizeof from;
    unsigned char packet[100];

    CHECK(fd >= 0 && all >= 0);
    CHECK(setsockopt(fd, 255, ICMP_FILTER, &answers_only, sizeof answers_only) == 0);
    echo.checksum = checksum_of(&echo, sizeof echo);
    CHECK(sendto(fd, &echo, sizeof echo, 0, (struct sockaddr *)&target, sizeof target) == sizeof echo);
    CHECK(recvfrom(fd, packet, sizeof packet, 0, (struct sockaddr *)&from, &size) == 20 + sizeof echo);
    CHECK(packet[0] == 0x45 && packet[9] == IPPROTO_ICMP && packet[20] == ICMP_ECHOREPLY && packet[25] == 9);
    CHECK(from.sin_addr.s_addr == htonl(INADDR_LOOPBACK) && from.sin_port == 0);
    CHECK(recv(all, packet, sizeof packet, 0) == 28 && packet[20] == ICMP_ECHO); /* requests, too, without a filter */
    CHECK(recv(all, packet, sizeof packet, 0) == 28 && packet[20] == ICMP_ECHOREPLY);
    CHECK_ERRNO(recv(all, packet, sizeof packet, MSG_DONTWAIT), EAGAIN);
    echo.checksum++; /* a host drops what is damaged; raw sockets have seen it by then */
    CHECK(sendto(fd, &echo, sizeof echo, 0, (struct sockaddr *)&target, sizeof target) == sizeof echo);
    CHECK(recv(all, packet, sizeof packet, 0) == 28 && packet[20] == ICMP_ECHO);
    CHECK_ERRNO(recv(fd, packet, sizeof packet, MSG_DONTWAIT), EAGAIN);
    CHECK(close(fd) == 0 && close(all) == 0);
}

static void raw_socket_6(void)
{
    struct sockaddr_in6 target = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct icmp6hdr echo = {.icmp6_type = ICMPV6_ECHO_REQUEST}; /* the kernel makes the checksum */
    unsigned blocked[8];
    int fd = socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);

    CHECK(fd >= 0);
    memset(blocked, 0xff, sizeof blocked);
    blocked[ICMPV6_ECHO_REPLY / 32] &= ~(1U << ICMPV6_ECHO_REPLY % 32);
    CHECK(setsockopt(fd, IPPROTO_ICMPV6, ICMPV6_FILTER, blocked, sizeof blocked) == 0);
    CHECK(sendto(fd, &echo, sizeof echo, 0, (struct sockaddr *)&target, sizeof target) == sizeof echo);
    CHECK(read(fd, &echo, sizeof echo) == sizeof echo && echo.icmp6_type == ICMPV6_ECHO_REPLY);
    CHECK(close(fd) == 0);
}

int main(void)
{
    ping_socket();
    ping_socket_6();
    raw_socket();
    raw_socket_6();
    return succeed();
}
