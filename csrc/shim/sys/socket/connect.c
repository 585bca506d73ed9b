/* connect(2): to an internet address by the server, to an AF_UNIX listener by the kernel. */
#include "shim/core/clock.h"
#include "shim/sys/poll/poll.h"
#include "shim/sys/socket/socket.h"
#include "shim/turn/turn.h"

/* A listener outside of this host's PID namespace has no number here. Datagrams have no listener (unix(7), SO_PEERCRED). */
static void note_outside(struct call *call)
{
    struct {
        int pid;
        uint32_t uid;
        uint32_t gid;
    } peer = {-1, 0, 0};
    uint32_t length = sizeof peer;
    int type = 0;
    const char *address = (const char *)call->a[1] + sizeof(uint16_t);
    char path[109] = "";

    NATIVE(getsockopt, call->a[0], SOL_SOCKET_LEVEL, SO_PEERCRED, &peer, &length);
    length = sizeof type;
    NATIVE(getsockopt, call->a[0], SOL_SOCKET_LEVEL, SO_TYPE, &type, &length);
    for (size_t i = 0; i < sizeof path - 1 && i + sizeof(uint16_t) < (size_t)call->a[2] && address[i] != '\0'; i++)
        path[i] = address[i];
    if (peer.pid == 0 && type != SOCK_DGRAM && path[0] != '\0')
        warn_once(call->thread, WARN_REAL, "talks to a program outside of the emulation, at", path);
}

/* A connect to an AF_UNIX listener whose backlog is full waits in the kernel: with a send timeout of one tick it
 * returns instead, and the flags of the open file need not be changed. */
static long connect_unix(struct call *call)
{
    struct kernel_timespec tick = {0, 1};
    struct kernel_timespec before = {0, 0};
    uint32_t length = sizeof before;
    int fd = (int)call->a[0];
    int64_t pause = 1000000;

    if (is_nonblocking(fd))
        return NATIVE(connect, fd, call->a[1], call->a[2]);
    NATIVE(getsockopt, fd, SOL_SOCKET_LEVEL, SO_SNDTIMEO, &before, &length);
    for (;;) {
        long result;

        NATIVE(setsockopt, fd, SOL_SOCKET_LEVEL, SO_SNDTIMEO, &tick, sizeof tick);
        result = NATIVE(connect, fd, call->a[1], call->a[2]);
        NATIVE(setsockopt, fd, SOL_SOCKET_LEVEL, SO_SNDTIMEO, &before, sizeof before);
        if (result != -EAGAIN)
            return result;
        struct wait wait = {.kind = PARK_LOCK, .deadline = clock_after(call->thread, pause), .a = (uint64_t)fd};
        result = wait_on(call, &wait, true);
        if (result < 0)
            return result;
        pause = pause < SECOND_NS / 10 ? 2 * pause : pause;
    }
}

/* Connect to a system bus that has to be started first. */
static long connect_bus(struct call *call)
{
    long result = -ENOENT;

    for (int tries = 0; result == -ENOENT; tries++) {
        long awaited = bus_await(call, tries);

        if (awaited < 0)
            return awaited;
        result = connect_unix(call);
    }
    return result;
}

#define FILLER_PARTS 64

/* Fill the send buffer, so that the descriptor is not writable until the server, once connected, reads what is there: a
 * page many times over, in as few calls as the buffer allows. */
static void fill_send_buffer(int fd)
{
    static char zeros[4096];
    struct iovec parts[FILLER_PARTS];
    struct message_header message = {.iov = parts, .iov_length = FILLER_PARTS};

    for (int i = 0; i < FILLER_PARTS; i++)
        parts[i] = (struct iovec){zeros, sizeof zeros};
    while (NATIVE(sendmsg, fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        ;
}

/* Give a TCP socket that could not be connected a new pair for the next attempt, since the old pair shows its error for
 * ever. */
static void replace_descriptor(struct call *call, int fd, int fresh)
{
    struct epoll_entry watched[8];
    int watchers;
    long inherited = NATIVE(fcntl, fd, F_GETFD, 0);
    long flags = NATIVE(fcntl, fd, F_GETFL, 0);

    if (fresh < 0)
        return;
    watchers = epoll_entries_of(call, fd, watched, sizeof watched / sizeof watched[0]);
    NATIVE(fcntl, fresh, F_SETFL, flags);
    NATIVE(dup3, fresh, fd, inherited & FD_CLOEXEC ? O_CLOEXEC : 0);
    NATIVE(close, fresh);
    epoll_entries_renew(fd, watched, watchers);
}

/* Make a socket forget its peer (connect to AF_UNSPEC). A TCP socket that had a peer, or that listened, gets a new pair. */
static long disconnect(struct call *call, const struct fd *fd)
{
    struct msgpack_writer writer;
    struct reply reply;

    request_start(call->thread, &writer, OP_CONNECT);
    msgpack_put_int(&writer, fd->socket);
    msgpack_put_int(&writer, 0);
    msgpack_put_bytes(&writer, "", 0);
    msgpack_put_int(&writer, 0);
    msgpack_put_int(&writer, 0);
    if (request_call(call->thread, &writer, &reply) == 0)
        replace_descriptor(call, fd->number, reply.fd);
    return reply.status;
}

static bool forgets_peer(const struct call *call)
{
    const uint16_t *family = (void *)call->a[1];

    return !is_bad_pointer(family) && call->a[2] >= 2 && *family == 0;
}

/* Connect by the server, which returns the outcome: at once, or, for a blocking TCP socket, when the wait ends. */
static long connect_simulated(struct call *call, const struct fd *fd)
{
    bool waits = !is_nonblocking(fd->number);
    struct wait wait = {.kind = PARK_CONNECT, .deadline = NEVER, .a = (uint64_t)fd->socket};
    struct reply reply;
    long result = address_ask(call, OP_CONNECT, fd->socket, waits, &reply);

    if (result == -EINPROGRESS || result == 0)
        replace_descriptor(call, fd->number, reply.fd);
    else if (result == -ECONNREFUSED || result == -ETIMEDOUT) /* the last error is returned now, and no longer pending */
        socket_take_error(fd->number);
    epoll_expect_edge(fd->socket);
    if (result != -EINPROGRESS)
        return result;
    if (!waits) {
        if (reply_number(&reply, 1) == 0) /* otherwise the attempt has ended already */
            fill_send_buffer(fd->number);
        return result;
    }
    do
        result = wait_on(call, &wait, false);
    while (result == WAKE_SIGNAL);
    return result < 0 ? result : wait.value;
}

long sys_connect(struct call *call)
{
    struct fd fd;
    long result;

    fd_look_socket((int)call->a[0], &fd);
    if (!fd_is_simulated(&fd) && netlink_take_over(call, fd.number, NULL))
        fd_look_socket(fd.number, &fd);
    switch (fd.kind) {
    case FD_STREAM:
    case FD_DATAGRAM:
        return forgets_peer(call) ? disconnect(call, &fd) : connect_simulated(call, &fd);
    case FD_NETLINK: /* the socket is connected with the kernel from the beginning */
        return 0;
    default:
        result = connect_unix(call);
        if (result == -ENOENT && bus_is_named(call))
            result = connect_bus(call);
        if (result == 0)
            note_outside(call);
        return result;
    }
}
