// SO_PASSCRED on a routing socket, set before it is bound or after: the kernel's messages come with the kernel's credentials, which
// are all 0. What was set before bind holds after it.
#include "check.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>

static void bind_it(int fd)
{
    struct sockaddr_nl name = {.nl_family = AF_NETLINK};

    CHECK(bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
}

static int passes(int fd)
{
    int value = -1;
    socklen_t size = sizeof value;

    CHECK(getsockopt(fd, SOL_SOCKET, SO_PASSCRED, &value, &size) == 0 && size == sizeof value);
    return value;
}

static void set(int fd, int value)
{
    CHECK(setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &value, sizeof value) == 0 && passes(fd) == value);
}

static void ask(int fd)
{
    struct {
        struct nlmsghdr header;
        struct rtgenmsg body;
    } request = {.header = {.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};

    CHECK(send(fd, &request, sizeof request, 0) == sizeof request);
}

/* Take the whole answer; how many of its messages came with credentials, which must be the kernel's. */
static int receive(int fd)
{
    char data[16384], control[256];
    int count = 0;

    for (int ended = 0; !ended;) {
        struct iovec iov = {data, sizeof data};
        struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        ssize_t size = recvmsg(fd, &message, 0);

        CHECK(size > 0);
        for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at != NULL; at = CMSG_NXTHDR(&message, at)) {
            struct ucred sender;

            CHECK(at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_CREDENTIALS && at->cmsg_len == CMSG_LEN(sizeof sender));
            memcpy(&sender, CMSG_DATA(at), sizeof sender);
            CHECK(sender.pid == 0 && sender.uid == 0 && sender.gid == 0);
            count++;
        }
        for (struct nlmsghdr *at = (void *)data; NLMSG_OK(at, size); at = NLMSG_NEXT(at, size))
            ended |= at->nlmsg_type == NLMSG_DONE;
    }
    return count;
}

int main(void)
{
    struct timeval patience = {.tv_usec = 50000};
    int early = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    int late = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    int64_t start_ns;
    char byte;

    CHECK(early >= 0 && passes(early) == 0);
    set(early, 1);
    CHECK(setsockopt(early, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    bind_it(early);
    CHECK(passes(early) == 1);
    ask(early);
    CHECK(receive(early) > 0);
    start_ns = now_ns();
    CHECK_ERRNO(recv(early, &byte, 1, 0), EAGAIN);
    CHECK_ELAPSED(start_ns, 50);

    bind_it(late);
    ask(late);
    CHECK(receive(late) == 0);
    set(late, 1);
    ask(late);
    CHECK(receive(late) > 0);
    set(late, 0);
    ask(late);
    CHECK(receive(late) == 0);
    return succeed();
}
