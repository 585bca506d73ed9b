// Of netlink, routing, questions about sockets and device events are there (which never happen); the rest is refused as by a
// kernel without it.
// native: no (which of them there are depends on this computer's kernel)
// warns: was refused
#include "check.h"

#include <linux/netlink.h>
#include <sys/socket.h>

int main(void)
{
    static const int refused[] = {NETLINK_AUDIT, NETLINK_GENERIC, NETLINK_NETFILTER, NETLINK_CONNECTOR, 30};
    struct sockaddr_nl all = {.nl_family = AF_NETLINK, .nl_groups = ~0U};
    char buffer[100];
    int events = socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);

    CHECK(events >= 0 && bind(events, (struct sockaddr *)&all, sizeof all) == 0);
    CHECK_ERRNO(recv(events, buffer, sizeof buffer, MSG_DONTWAIT), EAGAIN);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        CHECK_ERRNO(socket(AF_NETLINK, SOCK_RAW, refused[i]), EPROTONOSUPPORT);
    CHECK(socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG) >= 0);
    CHECK_ERRNO(socket(AF_NETLINK, SOCK_STREAM, NETLINK_ROUTE), ESOCKTNOSUPPORT);
    return succeed();
}
