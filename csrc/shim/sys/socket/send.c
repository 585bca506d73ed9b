/* send and similar calls on streams, AF_UNIX and netlink sockets; simulated datagrams go to datagram.c. */
#include "shim/core/clock.h"
#include "shim/sys/socket/socket.h"
#include "shim/turn/turn.h"

#define MSG_FASTOPEN_FLAG 0x20000000
#define REST_MAX 16
#define PAUSE_NS 1000000

/* Return whether bytes that the kernel did not take may be sent again later. */
static bool may_wait(const struct fd *fd, int flags)
{
    return (flags & MSG_DONTWAIT) == 0 && !is_nonblocking(fd->number);
}

/* Wait for room; return 0 or more if the bytes are to be sent again. */
static long wait_for_room(struct call *call, const struct fd *fd, bool is_addressed)
{
    struct pollfd entry = {.fd = fd->number, .events = POLLOUT};
    struct wait pause = {.kind = PARK_LOCK, .deadline = clock_after(call->thread, PAUSE_NS), .a = (uint64_t)fd->number};
    long result = socket_wait_to_send(call, fd, SO_SNDTIMEO);

    /* An unconnected AF_UNIX datagram socket is always writable, but the queue of the addressee may be full. */
    if (result == 0 && is_addressed && NATIVE(poll, &entry, 1, 0) != 0)
        result = wait_on(call, &pause, true);
    return result;
}

/* Send without waiting in the kernel. A blocking stream sends all bytes, and the thread gives the turn back between the
 * pieces. */
static long send_pieces(struct call *call, const struct fd *fd, const struct message_header *message, int flags)
{
    size_t total = message_size(message);
    size_t done = 0;
    struct iovec rest[REST_MAX];
    struct message_header piece = *message;

    for (;;) {
        long result;

        if (done > 0) { /* ancillary data goes with the first byte */
            piece.iov = rest;
            piece.iov_length = message_skip(message, done, rest, REST_MAX);
            piece.control = NULL;
            piece.control_length = 0;
        }
        result = NATIVE(sendmsg, fd->number, &piece, flags | MSG_DONTWAIT);
        if (result == -EAGAIN && may_wait(fd, flags)) {
            result = wait_for_room(call, fd, message->name != NULL);
            if (result >= 0)
                continue;
        }
        if (result < 0)
            return done > 0 ? (long)done : result;
        done += (size_t)result;
        if (done >= total || !may_wait(fd, flags) || !message_is_stream(fd->number))
            return (long)done;
    }
}

/* A request on a netlink socket is answered at once, before the sender goes on. */
static long send_netlink(struct call *call, const struct fd *fd, struct message_header *message, int flags)
{
    struct reply reply;
    long result;

    message->name = NULL;
    message->name_length = 0;
    message->control = NULL;
    message->control_length = 0;
    result = NATIVE(sendmsg, fd->number, message, flags | MSG_DONTWAIT);
    return result >= 0 && ASK(call->thread, &reply, OP_NETLINK, fd->socket) < 0 ? reply.status : result;
}

/* MSG_FASTOPEN: connects, then sends. The first bytes do not travel with the SYN, as on a kernel without a cookie for
 * the server. */
static long connect_first(struct call *call, const struct message_header *message)
{
    struct call connecting = *call;

    connecting.a[1] = (long)message->name;
    connecting.a[2] = message->name_length;
    return sys_connect(&connecting);
}

/* A connected stream ignores an address, whereas the pair under it would use the address. */
static long send_stream(struct call *call, const struct fd *fd, struct message_header *message, int flags)
{
    size_t size = message_size(message);
    long result;

    if ((flags & MSG_FASTOPEN_FLAG) != 0 && message->name != NULL) {
        result = connect_first(call, message);
        if (result != 0 && result != -EISCONN)
            return result;
    }
    flags &= ~MSG_FASTOPEN_FLAG;
    if (socket_cannot_send(call, fd, flags) != 0)
        return -EPIPE;
    message->name = NULL;
    message->name_length = 0;
    if ((flags & MSG_MORE) != 0)
        stream_more_follows(call, fd);
    return stream_sent(call, fd, flags, size, send_pieces(call, fd, message, flags));
}

static long send_message(struct call *call, int number, struct message_header *message, int flags)
{
    struct fd fd;

    if (descriptor_is_ours(call, number))
        return -EBADF;
    fd_look_socket(number, &fd);
    if (!fd_is_simulated(&fd) && netlink_take_over(call, number, message))
        fd_look_socket(number, &fd);
    switch (fd.kind) {
    case FD_DATAGRAM:
        return datagram_send(call, &fd, message, flags);
    case FD_NETLINK:
        return send_netlink(call, &fd, message, flags);
    case FD_STREAM:
        return send_stream(call, &fd, message, flags);
    default:
        return send_pieces(call, &fd, message, flags);
    }
}

long sys_sendto(struct call *call)
{
    struct iovec iov = {(void *)call->a[1], (size_t)call->a[2]};
    struct message_header message = {
        .name = (void *)call->a[4], .name_length = (uint32_t)call->a[5], .iov = &iov, .iov_length = 1};

    if (message.name != NULL && message.name_length > ADDRESS_BYTES_MAX && socket_id((int)call->a[0]) >= 0)
        return -EINVAL;
    return send_message(call, (int)call->a[0], &message, (int)call->a[3]);
}

long sys_sendmsg(struct call *call)
{
    struct message_header message;
    long result;

    if (is_bad_pointer((void *)call->a[1]))
        return -EFAULT;
    message = *(struct message_header *)call->a[1];
    result = message_check(&message);
    return result != 0 ? result : send_message(call, (int)call->a[0], &message, (int)call->a[2]);
}

long sys_sendmmsg(struct call *call)
{
    return message_each(call, send_message, false);
}
