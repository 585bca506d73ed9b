/* Routing sockets (NETLINK_ROUTE) are simulated from the moment at which the application binds them or sends on them.
 * Until then such a socket is a real one of the kernel, on which nothing arrives, because mq_notify(2) accepts only a
 * real one: the thread in which glibc reports messages waits at such a socket.
 *
 * Sockets that ask about sockets (NETLINK_SOCK_DIAG) are simulated once they ask about internet sockets. The kernel
 * answers all their other requests, from the host's network namespace, since AF_UNIX and netlink sockets belong to the
 * kernel. */
#include "shim/sys/socket/socket.h"

#define NETLINK_ROUTE 0
#define NETLINK_SOCK_DIAG 4
#define NETLINK_HEADER_BYTES 16      /* the length of the header, which the requested address family follows */
#define FIRST_OTHER_PORT 4294963199U /* the port from which the kernel searches downwards if the pid is taken */
#define PORTS_TRIED 64

struct netlink_address {
    uint16_t family, unused;
    uint32_t port, groups;
};

static int option(int fd, int name)
{
    int value = -1;
    uint32_t length = sizeof value;

    return NATIVE(getsockopt, fd, SOL_SOCKET_LEVEL, name, &value, &length) == 0 ? value : -1;
}

/* Return whether the real kernel makes the socket at first. */
bool netlink_is_native_first(const struct call *call)
{
    return call->a[0] == AF_NETLINK && (call->a[2] == NETLINK_ROUTE || call->a[2] == NETLINK_SOCK_DIAG);
}

static bool asks_about_sockets(int fd)
{
    return option(fd, SO_DOMAIN_OPTION) == AF_NETLINK && option(fd, SO_PROTOCOL_OPTION) == NETLINK_SOCK_DIAG;
}

/* Bind a socket for requests about sockets to a port that does not depend on chance: the pid, as the kernel does, or
 * the next free port, where the kernel would choose a random one. */
long netlink_bind_native(struct call *call, int fd)
{
    struct netlink_address address = {.family = AF_NETLINK, .port = (uint32_t)call->thread->process->ids.pid};
    const struct netlink_address *wanted = (void *)call->a[1];
    long result;

    if (call->a[2] < (long)sizeof address || is_bad_pointer(wanted) || wanted->port != 0 || !asks_about_sockets(fd))
        return NATIVE(bind, fd, call->a[1], call->a[2]);
    address.groups = wanted->groups;
    result = NATIVE(bind, fd, &address, sizeof address);
    for (uint32_t i = 0; result == -EADDRINUSE && i < PORTS_TRIED; i++) {
        address.port = FIRST_OTHER_PORT - i;
        result = NATIVE(bind, fd, &address, sizeof address);
    }
    return result;
}

/* Return the byte at this place of a message; 0 behind its end. */
static uint8_t byte_at(const struct message_header *message, size_t at)
{
    for (size_t i = 0; i < message->iov_length; at -= message->iov[i++].iov_len)
        if (at < message->iov[i].iov_len)
            return ((const uint8_t *)message->iov[i].iov_base)[at];
    return 0;
}

static bool is_about_internet(const struct message_header *message)
{
    uint8_t family = byte_at(message, NETLINK_HEADER_BYTES);

    return family == AF_INET || family == AF_INET6;
}

/* The simulated socket gets the port of the kernel's socket, since the application may have read this port. */
static void keep_port(struct call *call, int from, int to)
{
    struct netlink_address address = {0};
    struct msgpack_writer writer;
    struct reply reply;
    uint32_t length = sizeof address;

    if (NATIVE(getsockname, from, &address, &length) != 0 || address.port == 0)
        return;
    request_start(call->thread, &writer, OP_BIND);
    msgpack_put_int(&writer, socket_id(to));
    msgpack_put_int(&writer, AF_NETLINK);
    msgpack_put_bytes(&writer, "", 0);
    msgpack_put_int(&writer, address.port);
    msgpack_put_int(&writer, 0);
    request_call(call->thread, &writer, &reply);
}

/* Copy the options that the application has set, and that the kernel applies to the AF_UNIX pair as well. */
static void keep_options(int from, int to)
{
    static const int options[] = {SO_PASSCRED, SO_RCVTIMEO, SO_SNDTIMEO};

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct kernel_timespec value = {0, 0};
        uint32_t length = sizeof value;

        if (NATIVE(getsockopt, from, SOL_SOCKET_LEVEL, options[i], &value, &length) == 0)
            NATIVE(setsockopt, to, SOL_SOCKET_LEVEL, options[i], &value, length);
    }
}

/* Replace the kernel's socket by a simulated one, if it is time: `message` is the message to be sent, or NULL before
 * any message. Return false if the socket is simulated already, or stays a socket of the kernel. */
bool netlink_take_over(struct call *call, int fd, const struct message_header *message)
{
    struct reply reply;
    long close_on_exec, flags;

    if (option(fd, SO_DOMAIN_OPTION) != AF_NETLINK ||
        (option(fd, SO_PROTOCOL_OPTION) != NETLINK_ROUTE && (message == NULL || !is_about_internet(message))) ||
        ASK(call->thread, &reply, OP_SOCKET, AF_NETLINK, option(fd, SO_TYPE_OPTION), option(fd, SO_PROTOCOL_OPTION)) < 0)
        return false;
    close_on_exec = NATIVE(fcntl, fd, F_GETFD, 0);
    flags = NATIVE(fcntl, fd, F_GETFL, 0);
    keep_port(call, fd, reply.fd);
    keep_options(fd, reply.fd);
    NATIVE(dup3, reply.fd, fd, close_on_exec != 0 ? O_CLOEXEC : 0);
    NATIVE(close, reply.fd);
    if (flags & O_NONBLOCK)
        NATIVE(fcntl, fd, F_SETFL, O_RDWR | O_NONBLOCK);
    return true;
}
