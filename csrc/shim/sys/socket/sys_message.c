/* send, recv and their kin on streams and AF_UNIX sockets; simulated datagrams go to sys_datagram.c. */
#include "shim.h"

#define MSG_FASTOPEN_FLAG 0x20000000

long sys_connect(struct call *call);


static size_t total_of(const struct message_header *message)
{
    size_t total = 0;

    for (size_t i = 0; i < message->iov_length && i < 1024; i++)
        total += message->iov[i].iov_len;
    return total;
}

/* The rest of a message after `done` bytes of its first parts: written into `rest`, at most `room` parts. */
static size_t skip_bytes(const struct message_header *message, size_t done, struct iovec *rest, size_t room)
{
    size_t count = 0;

    for (size_t i = 0; i < message->iov_length && count < room; i++) {
        struct iovec part = message->iov[i];

        if (done >= part.iov_len) {
            done -= part.iov_len;
            continue;
        }
        part.iov_base = (char *)part.iov_base + done;
        part.iov_len -= done;
        done = 0;
        rest[count++] = part;
    }
    return count;
}

static bool is_stream(int fd)
{
    int type = 0;
    uint32_t length = sizeof type;

    return NATIVE(getsockopt, fd, SOL_SOCKET_LEVEL, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

/* Send without waiting in the kernel; a blocking stream takes everything, the turn given back between the pieces. */
static long send_pieces(struct call *call, int fd, const struct message_header *message, int flags)
{
    size_t total = total_of(message);
    size_t done = 0;
    struct iovec rest[16];
    struct message_header piece = *message;

    for (;;) {
        long result;

        if (done > 0) { /* ancillary data goes with the first byte */
            piece.iov = rest;
            piece.iov_length = skip_bytes(message, done, rest, 16);
            piece.control = NULL;
            piece.control_length = 0;
        }
        result = NATIVE(sendmsg, fd, &piece, flags | MSG_DONTWAIT);
        if (result == -EAGAIN && (flags & MSG_DONTWAIT) == 0 && !is_nonblocking(fd)) {
            struct pollfd entry = {.fd = fd, .events = POLLOUT};
            struct wait pause = {.kind = PARK_LOCK, .deadline = clock_after(call->thread, 1000000), .a = (uint64_t)fd};

            result = wait_ready(call, fd, POLLOUT, SO_SNDTIMEO);
            /* An unconnected AF_UNIX datagram socket is always writable, yet its addressee's queue may be full. */
            if (result == 0 && message->name != NULL && NATIVE(poll, &entry, 1, 0) != 0)
                result = wait_on(call, &pause, true);
            if (result >= 0)
                continue;
        }
        if (result < 0)
            return done > 0 ? (long)done : result;
        done += (size_t)result;
        if (done >= total || (flags & MSG_DONTWAIT) != 0 || is_nonblocking(fd) || !is_stream(fd))
            return (long)done;
    }
}

/* What was asked on a netlink socket is answered at once, before the sender goes on. */
static long send_netlink(struct call *call, int fd, struct message_header *message, int flags)
{
    struct reply reply;
    long result;

    message->name = NULL;
    message->name_length = 0;
    message->control = NULL;
    message->control_length = 0;
    result = NATIVE(sendmsg, fd, message, flags | MSG_DONTWAIT);
    return result >= 0 && ASK(call->thread, &reply, OP_NETLINK, socket_id(fd, NULL)) < 0 ? reply.status : result;
}

/* MSG_FASTOPEN: connects, then sends; that the first bytes travel with the SYN is not modelled, as where the kernel has no cookie. */
static long connect_first(struct call *call, const struct message_header *message)
{
    struct call connecting = *call;

    connecting.a[1] = (long)message->name;
    connecting.a[2] = message->name_length;
    return sys_connect(&connecting);
}

static long send_message(struct call *call, int fd, struct message_header *message, int flags)
{
    char type;

    if (descriptor_is_ours(call, fd))
        return -EBADF;
    if (socket_id(fd, &type) >= 0 || (netlink_take_over(call, fd) && socket_id(fd, &type) >= 0)) {
        if (type == 'd')
            return datagram_send(call, fd, message, flags);
        if (type == 'n')
            return send_netlink(call, fd, message, flags);
        if ((flags & MSG_FASTOPEN_FLAG) != 0 && message->name != NULL) {
            long result = connect_first(call, message);

            if (result != 0 && result != -EISCONN)
                return result;
        }
        flags &= ~MSG_FASTOPEN_FLAG;
        if (socket_cannot_send(call, fd, flags) != 0)
            return -EPIPE;
        message->name = NULL; /* a connected stream ignores it; the pair would not */
        message->name_length = 0;
    }
    return send_pieces(call, fd, message, flags);
}

long sys_sendto(struct call *call)
{
    struct iovec iov = {(void *)call->a[1], (size_t)call->a[2]};
    struct message_header message = {
        .name = (void *)call->a[4], .name_length = (uint32_t)call->a[5], .iov = &iov, .iov_length = 1};

    return send_message(call, (int)call->a[0], &message, (int)call->a[3]);
}

long sys_sendmsg(struct call *call)
{
    struct message_header message;

    if (is_bad_pointer((void *)call->a[1]))
        return -EFAULT;
    message = *(struct message_header *)call->a[1];
    return send_message(call, (int)call->a[0], &message, (int)call->a[2]);
}

/* MSG_WAITALL on a stream would wait in the kernel: gather here. */
static long receive_all(struct call *call, int fd, struct message_header *message, int flags)
{
    size_t total = total_of(message);
    size_t done = 0;
    struct iovec rest[16];

    while (done < total) {
        struct message_header piece = {.iov = rest, .iov_length = skip_bytes(message, done, rest, 16)};
        long result = socket_wait_to_receive(call, fd, 0);

        if (result == 0)
            result = socket_received(call, fd, NATIVE(recvmsg, fd, &piece, (flags & ~MSG_WAITALL) | MSG_DONTWAIT));
        if (result < 0)
            return done > 0 ? (long)done : result;
        if (result == 0)
            break;
        done += (size_t)result;
    }
    message->name_length = 0;
    return (long)done;
}

static long receive_message(struct call *call, int fd, struct message_header *message, int flags)
{
    char type = 0;
    bool simulated;
    long result;

    if (descriptor_is_ours(call, fd))
        return -EBADF;
    simulated = socket_id(fd, &type) >= 0;
    if (simulated && type == 'd')
        return datagram_receive(call, fd, message, flags);
    if (simulated && (flags & MSG_OOB) != 0)
        return socket_receive_urgent(fd, message, flags);
    if ((flags & MSG_WAITALL) != 0 && (flags & (MSG_PEEK | MSG_DONTWAIT)) == 0 && !is_nonblocking(fd) && is_stream(fd))
        return receive_all(call, fd, message, flags);
    result = socket_wait_to_receive(call, fd, flags);
    if (result != 0)
        return result;
    result = NATIVE(recvmsg, fd, message, flags);
    if (result >= 0 && !simulated && message->control_length > 0)
        control_messages_correct_time(call->thread, message);
    if (type == 'n') {
        netlink_store_address(message->name, &message->name_length, 0);
        return result;
    }
    if (simulated && total_of(message) > 0)
        result = socket_received(call, fd, result);
    if (simulated)
        message->name_length = 0; /* the pair's name is not the application's business */
    return result;
}

long sys_recvfrom(struct call *call)
{
    uint32_t *length = (uint32_t *)call->a[5];
    struct iovec iov = {(void *)call->a[1], (size_t)call->a[2]};
    struct message_header message = {.iov = &iov, .iov_length = 1};
    long result;

    if (call->a[4] != 0) {
        if (is_bad_pointer(length))
            return -EFAULT;
        message.name = (void *)call->a[4];
        message.name_length = *length;
    }
    result = receive_message(call, (int)call->a[0], &message, (int)call->a[3]);
    if (result >= 0 && call->a[4] != 0)
        *length = message.name_length;
    return result;
}

long sys_recvmsg(struct call *call)
{
    struct message_header *message = (void *)call->a[1];

    if (is_bad_pointer(message))
        return -EFAULT;
    return receive_message(call, (int)call->a[0], message, (int)call->a[2]);
}

struct many_header {
    struct message_header message;
    uint32_t length;
};

/* sendmmsg, recvmmsg: one after the other; an error after the first is told by the count. */
static long for_each(struct call *call, long (*one)(struct call *, int, struct message_header *, int), bool stop_when_dry)
{
    struct many_header *many = (void *)call->a[1];
    int flags = (int)call->a[3];
    long done = 0;

    if (is_bad_pointer(many))
        return -EFAULT;
    for (; done < (long)(unsigned)call->a[2]; done++) {
        long result = one(call, (int)call->a[0], &many[done].message, flags);

        if (result < 0)
            return done > 0 ? done : result;
        many[done].length = (uint32_t)result;
        if (stop_when_dry)
            flags |= MSG_DONTWAIT;
    }
    return done;
}

long sys_sendmmsg(struct call *call)
{
    return for_each(call, send_message, false);
}

#define MSG_WAITFORONE 0x10000

long sys_recvmmsg(struct call *call)
{
    bool stop_when_dry = (call->a[3] & MSG_WAITFORONE) != 0;

    call->a[3] &= ~MSG_WAITFORONE;
    if (call->a[4] != 0)
        stop_when_dry = true; /* its timeout is looked at only between datagrams, see recvmmsg(2) */
    return for_each(call, receive_message, stop_when_dry);
}

