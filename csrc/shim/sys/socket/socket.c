/* Internet sockets are made, bound, named and shut down by the server; AF_UNIX sockets by the kernel. */
#include "shim/sys/file/file.h"
#include "shim/sys/poll/poll.h"
#include "shim/sys/socket/socket.h"

#define CAPABILITY_VERSION_3 0x20080522
#define CAP_NET_BIND_SERVICE 10
#define CAP_NET_RAW 13
#define FIRST_PORT 1024 /* the lowest port that every user may bind, unless the host sets another one */
#define SOCK_RAW 3

/* Install a new descriptor from the server, with the flags that the application wants. */
long socket_finish(int fd, int flags)
{
    if ((flags & SOCK_CLOEXEC) == 0)
        NATIVE(fcntl, fd, F_SETFD, 0);
    if (flags & SOCK_NONBLOCK)
        NATIVE(fcntl, fd, F_SETFL, O_RDWR | O_NONBLOCK);
    return fd;
}

static int64_t family_number(long family)
{
    return family == AF_INET ? 4 : family == AF_INET6 ? 6 : family;
}

/* Return whether this thread has a capability. */
bool socket_is_capable(unsigned capability)
{
    struct {
        uint32_t version;
        int32_t pid;
    } header = {.version = CAPABILITY_VERSION_3};
    struct {
        uint32_t effective, permitted, inheritable;
    } sets[2] = {{0}};

    return NATIVE(capget, &header, sets) == 0 && (sets[0].effective & 1U << capability) != 0;
}

long sys_socket(struct call *call)
{
    int type = (int)call->a[1] & SOCK_TYPE_MASK;
    struct reply reply;

    if (call->a[0] == AF_UNIX)
        return NATIVE(socket, call->a[0], call->a[1], call->a[2]);
    if (call->a[0] != AF_INET && call->a[0] != AF_INET6 && call->a[0] != AF_NETLINK)
        return socket_family_refused(call);
    if ((call->a[1] & ~(long)(SOCK_TYPE_MASK | SOCK_CLOEXEC | SOCK_NONBLOCK)) != 0)
        return -EINVAL;
    if (netlink_is_native_first(call))
        return NATIVE(socket, call->a[0], call->a[1], call->a[2]);
    if (type == SOCK_RAW && call->a[0] != AF_NETLINK && !socket_is_capable(CAP_NET_RAW))
        return -EPERM;
    if (descriptor_is_free(call) != 0)
        return -EMFILE;
    if (ASK(call->thread, &reply, OP_SOCKET, family_number(call->a[0]), type, call->a[2]) < 0)
        return call->a[0] == AF_NETLINK ? netlink_refused(call, reply.status) : socket_type_refused(call, reply.status);
    return socket_finish(reply.fd, (int)call->a[1]);
}

/* Return the lowest port that this thread may bind, see ip(7): without CAP_NET_BIND_SERVICE,
 * net.ipv4.ip_unprivileged_port_start of the host. */
static int lowest_port(void)
{
    char text[16];
    long file, size;
    int port = 0;

    if (socket_is_capable(CAP_NET_BIND_SERVICE))
        return 0;
    file = NATIVE(openat, AT_FDCWD, "/proc/sys/net/ipv4/ip_unprivileged_port_start", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return FIRST_PORT;
    size = NATIVE(read, file, text, sizeof text);
    NATIVE(close, file);
    for (long i = 0; i < size && text[i] >= '0' && text[i] <= '9'; i++)
        port = 10 * port + text[i] - '0';
    return port;
}

static bool names_netlink(const struct call *call)
{
    const uint16_t *family = (void *)call->a[1];

    return !is_bad_pointer(family) && *family == AF_NETLINK;
}

long sys_bind(struct call *call)
{
    int64_t id = socket_id((int)call->a[0]);
    struct reply reply;

    if (id < 0 && netlink_take_over(call, (int)call->a[0], NULL))
        id = socket_id((int)call->a[0]);
    if (id >= 0)
        return address_ask(call, OP_BIND, id, lowest_port(), &reply);
    return names_netlink(call) ? netlink_bind_native(call, (int)call->a[0]) : file_bind(call);
}

long sys_listen(struct call *call)
{
    int64_t id = socket_id((int)call->a[0]);
    struct reply reply;

    return id < 0 ? NATIVE(listen, call->a[0], call->a[1]) : ASK(call->thread, &reply, OP_LISTEN, id, (int)call->a[1]);
}

static long get_name(struct call *call, int op)
{
    int64_t id = socket_id((int)call->a[0]);
    struct reply reply;

    if (id < 0)
        return syscall6(call->number, call->a[0], call->a[1], call->a[2], 0, 0, 0);
    if (ask(call->thread, &reply, op, 1, &(const int64_t){id}) < 0)
        return reply.status;
    if (*(int *)call->a[2] < 0)
        return -EINVAL;
    if (is_bad_pointer((void *)call->a[1]))
        return -EFAULT;
    address_store_reply((void *)call->a[1], (uint32_t *)call->a[2], &reply);
    return 0;
}

long sys_getsockname(struct call *call)
{
    return get_name(call, OP_SOCKNAME);
}

long sys_getpeername(struct call *call)
{
    return get_name(call, OP_PEERNAME);
}

long sys_shutdown(struct call *call)
{
    int64_t id = socket_id((int)call->a[0]);
    struct reply reply;

    if (id >= 0 && ASK(call->thread, &reply, OP_SHUTDOWN, id, (int)call->a[1]) != 0)
        return reply.status < 0 ? reply.status : 0;
    if (id >= 0)
        epoll_expect_edge(id);
    return NATIVE(shutdown, call->a[0], call->a[1]);
}
