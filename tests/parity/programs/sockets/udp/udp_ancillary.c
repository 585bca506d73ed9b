// Hop limit, traffic class and destination come as ancillary data to who asks for them (RFC 3542), cut off where room ends.
// musl: no (musl clears what is unused of a message)
#include "inet.h"

#include <netinet/ip6.h>

static int sockets[2]; /* receiver, sender */

static void enable(int option)
{
    int on = 1;

    CHECK(setsockopt(sockets[0], IPPROTO_IPV6, option, &on, sizeof on) == 0);
}

/* Send one datagram with this hop limit as ancillary data, and receive it with so much room for what comes along. */
static struct msghdr pass(int hop_limit, char *control, size_t room)
{
    static struct sockaddr_in6 name;
    static char byte = 'x';
    static struct iovec part = {&byte, 1};
    char given[CMSG_SPACE(sizeof(int))] = "";
    struct msghdr message = {.msg_name = &name, .msg_iov = &part, .msg_iovlen = 1};
    socklen_t size = sizeof name;

    CHECK(getsockname(sockets[0], (struct sockaddr *)&name, &size) == 0);
    message.msg_namelen = size;
    if (hop_limit != 0) {
        message.msg_control = given;
        message.msg_controllen = sizeof given;
        *CMSG_FIRSTHDR(&message) = (struct cmsghdr){CMSG_LEN(sizeof(int)), IPPROTO_IPV6, IPV6_HOPLIMIT};
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &hop_limit, sizeof hop_limit);
    }
    if (hop_limit > 255) {
        CHECK_ERRNO(sendmsg(sockets[1], &message, 0), EINVAL);
        return message;
    }
    CHECK(sendmsg(sockets[1], &message, 0) == 1);
    message.msg_control = control;
    message.msg_controllen = room;
    CHECK(recvmsg(sockets[0], &message, 0) == 1);
    return message;
}

static int number_in(struct cmsghdr *header, int type)
{
    int number;

    CHECK(header != NULL && header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == type);
    CHECK(header->cmsg_len == CMSG_LEN(sizeof number));
    memcpy(&number, CMSG_DATA(header), sizeof number);
    return number;
}

int main(void)
{
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    _Alignas(struct cmsghdr) char control[200];
    struct in6_pktinfo info;
    struct msghdr message;
    struct cmsghdr *header;
    int class = 16;

    for (int i = 0; i < 2; i++)
        CHECK((sockets[i] = socket(AF_INET6, SOCK_DGRAM, 0)) >= 0);
    CHECK(bind(sockets[0], (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(pass(0, control, sizeof control).msg_controllen == 0);
    enable(IPV6_RECVHOPLIMIT);
    message = pass(0, control, sizeof control);
    CHECK(number_in(CMSG_FIRSTHDR(&message), IPV6_HOPLIMIT) == 64);
    CHECK(CMSG_NXTHDR(&message, CMSG_FIRSTHDR(&message)) == NULL);
    pass(256, control, sizeof control);
    enable(IPV6_RECVTCLASS);
    enable(IPV6_RECVPKTINFO);
    CHECK(setsockopt(sockets[1], IPPROTO_IPV6, IPV6_TCLASS, &class, sizeof class) == 0);
    message = pass(7, control, sizeof control);
    CHECK((message.msg_flags & MSG_CTRUNC) == 0);
    header = CMSG_FIRSTHDR(&message);
    CHECK(header != NULL && header->cmsg_type == IPV6_PKTINFO && header->cmsg_len == CMSG_LEN(sizeof info));
    memcpy(&info, CMSG_DATA(header), sizeof info);
    CHECK(memcmp(&info.ipi6_addr, &in6addr_loopback, sizeof info.ipi6_addr) == 0 && info.ipi6_ifindex == 1);
    header = CMSG_NXTHDR(&message, header);
    CHECK(number_in(header, IPV6_HOPLIMIT) == 7);
    CHECK(number_in(CMSG_NXTHDR(&message, header), IPV6_TCLASS) == 16);
    message = pass(7, control, CMSG_SPACE(sizeof info) + CMSG_LEN(2));
    CHECK((message.msg_flags & MSG_CTRUNC) != 0);
    CHECK(message.msg_controllen == CMSG_SPACE(sizeof info) + CMSG_LEN(2));
    return succeed();
}
