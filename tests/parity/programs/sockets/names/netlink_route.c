// A routing socket: its address, dumps of links, addresses and routes, one link by its name, an error, peeking at the size.
#include "check.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

struct request {
    struct nlmsghdr header;
    union {
        struct ifinfomsg link;
        struct rtgenmsg any;
        struct rtmsg route;
    };
    struct rtattr attribute;
    char name[8];
};

static int sequence;
static char answer[65536];

static void ask(int fd, int type, int flags, const char *name)
{
    struct request request = {
        .header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)), .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | flags,
                   .nlmsg_seq = ++sequence},
        .attribute = {.rta_len = RTA_LENGTH(8), .rta_type = IFLA_IFNAME},
    };

    if (name != NULL) {
        strcpy(request.name, name);
        request.header.nlmsg_len += RTA_LENGTH(8);
    }
    CHECK(send(fd, &request, request.header.nlmsg_len, 0) == (ssize_t)request.header.nlmsg_len);
}

static ssize_t receive(int fd)
{
    struct sockaddr_nl from = {0};
    struct iovec part = {answer, sizeof answer};
    struct msghdr message = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1};
    ssize_t whole = recv(fd, answer, 1, MSG_PEEK | MSG_TRUNC);
    ssize_t size = recvmsg(fd, &message, 0);

    CHECK(size == whole && size > 0 && message.msg_namelen == sizeof from);
    CHECK(from.nl_family == AF_NETLINK && from.nl_pid == 0);
    return size;
}

/* How many messages of a type a dump holds. */
static int count(int fd, int request, int type)
{
    struct sockaddr_nl own;
    socklen_t size = sizeof own;
    int found = 0;

    CHECK(getsockname(fd, (struct sockaddr *)&own, &size) == 0 && size == sizeof own);
    ask(fd, request, NLM_F_DUMP, NULL);
    for (;;) {
        ssize_t length = receive(fd);

        for (struct nlmsghdr *one = (void *)answer; NLMSG_OK(one, length); one = NLMSG_NEXT(one, length)) {
            CHECK(one->nlmsg_seq == (unsigned)sequence && one->nlmsg_pid == own.nl_pid && one->nlmsg_flags & NLM_F_MULTI);
            if (one->nlmsg_type == NLMSG_DONE)
                return found;
            CHECK(one->nlmsg_type == type);
            found++;
        }
    }
}

static void ask_one(int fd)
{
    struct nlmsghdr *header = (void *)answer;
    struct ifinfomsg *link = NLMSG_DATA(header);
    struct nlmsgerr *error = NLMSG_DATA(header);

    ask(fd, RTM_GETLINK, 0, "lo");
    receive(fd);
    CHECK(header->nlmsg_type == RTM_NEWLINK && link->ifi_index == 1);
    ask(fd, RTM_GETLINK, 0, "none0");
    receive(fd);
    CHECK(header->nlmsg_type == NLMSG_ERROR && error->error == -ENODEV && error->msg.nlmsg_seq == (unsigned)sequence);
    CHECK_ERRNO(recv(fd, answer, sizeof answer, MSG_DONTWAIT), EAGAIN);
}

static void check_options(int fd)
{
    int value = 0;
    socklen_t size = sizeof value;

    CHECK(getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &value, &size) == 0 && value == AF_NETLINK);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &size) == 0 && value == SOCK_RAW);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &size) == 0 && value == NETLINK_ROUTE);
    value = 1;
    CHECK(setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &value, sizeof value) == 0);
}

int main(void)
{
    int first = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    int second = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    struct sockaddr_nl any = {.nl_family = AF_NETLINK};
    socklen_t size = sizeof any;

    CHECK(first >= 0 && bind(first, (struct sockaddr *)&any, sizeof any) == 0);
    CHECK(getsockname(first, (struct sockaddr *)&any, &size) == 0 && any.nl_pid == (unsigned)getpid());
    any.nl_pid = 0;
    CHECK(bind(second, (struct sockaddr *)&any, sizeof any) == 0);
    CHECK(getsockname(second, (struct sockaddr *)&any, &size) == 0 && any.nl_pid != 0 && any.nl_pid != (unsigned)getpid());
    check_options(first);
    CHECK(count(first, RTM_GETLINK, RTM_NEWLINK) >= 1);
    CHECK(count(first, RTM_GETADDR, RTM_NEWADDR) >= 1);
    count(first, RTM_GETROUTE, RTM_NEWROUTE);
    ask_one(first);
    CHECK(close(first) == 0 && close(second) == 0);
    return succeed();
}
