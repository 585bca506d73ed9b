/* Routing sockets (NETLINK_ROUTE) are simulated from the moment at which the application binds them or sends on them. Until
 * then such a socket is the kernel's own and silent, for mq_notify takes no other: the thread in which glibc reports messages
 * waits at one. */
#include "shim/sys/socket/socket.h"

#define NETLINK_ROUTE 0

static int option(int fd, int name)
{
    int value = -1;
    uint32_t length = sizeof value;

    return NATIVE(getsockopt, fd, SOL_SOCKET_LEVEL, name, &value, &length) == 0 ? value : -1;
}

bool netlink_is_routing(const struct call *call)
{
    return call->a[0] == AF_NETLINK && call->a[2] == NETLINK_ROUTE;
}

/* Put a simulated socket in the place of the kernel's. False if that is what it is already, or no netlink socket. */
bool netlink_take_over(struct call *call, int fd)
{
    struct reply reply;
    long close_on_exec, flags;

    if (option(fd, SO_DOMAIN_OPTION) != AF_NETLINK ||
        ASK(call->thread, &reply, OP_SOCKET, AF_NETLINK, option(fd, SO_TYPE_OPTION), option(fd, SO_PROTOCOL_OPTION)) < 0)
        return false;
    close_on_exec = NATIVE(fcntl, fd, F_GETFD, 0);
    flags = NATIVE(fcntl, fd, F_GETFL, 0);
    NATIVE(dup3, reply.fd, fd, close_on_exec != 0 ? O_CLOEXEC : 0);
    NATIVE(close, reply.fd);
    if (flags & O_NONBLOCK)
        NATIVE(fcntl, fd, F_SETFL, O_RDWR | O_NONBLOCK);
    return true;
}
