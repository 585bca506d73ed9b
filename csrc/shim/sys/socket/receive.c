/* recv and similar calls on streams, AF_UNIX and netlink sockets; simulated datagrams come from datagram.c. */
#include "shim/sys/socket/socket.h"
#include "shim/turn/turn.h"

#define REST_MAX 16
#define MSG_ERRQUEUE 0x2000

/* MSG_WAITALL on a stream would wait in the kernel, so the shim gathers the bytes here. */
static long receive_all(struct call *call, const struct fd *fd, struct message_header *message, int flags)
{
    size_t total = message_size(message);
    size_t done = 0;
    struct iovec rest[REST_MAX];

    while (done < total) {
        struct message_header piece = {.iov = rest, .iov_length = message_skip(message, done, rest, REST_MAX)};
        long result = socket_wait_to_receive(call, fd, 0);

        if (result == 0)
            result = socket_received(call, fd, &piece, flags,
                                     NATIVE(recvmsg, fd->number, &piece, (flags & ~MSG_WAITALL) | MSG_DONTWAIT));
        if (result < 0)
            return done > 0 ? (long)done : result;
        if (result == 0)
            break;
        done += (size_t)result;
    }
    message->name_length = 0;
    return (long)done;
}

static bool wants_all(const struct fd *fd, int flags)
{
    return (flags & MSG_WAITALL) != 0 && (flags & (MSG_PEEK | MSG_DONTWAIT)) == 0 && !is_nonblocking(fd->number) &&
           message_is_stream(fd->number);
}

/* Receive one message, waiting until there is one. The name of the pair's other end is never returned. */
static long receive_one(struct call *call, const struct fd *fd, struct message_header *message, int flags)
{
    long result = socket_wait_to_receive(call, fd, flags);

    if (result != 0)
        return result;
    result = NATIVE(recvmsg, fd->number, message, flags);
    if (fd->kind == FD_NETLINK) {
        netlink_store_address(message->name, &message->name_length, 0);
        cmsg_correct_sender(message);
    } else if (fd->kind == FD_STREAM) {
        message->name_length = 0;
        if (message_size(message) > 0)
            result = socket_received(call, fd, message, flags, result);
    } else if (result >= 0 && message->control_length > 0) {
        cmsg_correct_time(call->thread, message);
    }
    return result;
}

static long receive_message(struct call *call, int number, struct message_header *message, int flags)
{
    struct fd fd;

    if (descriptor_is_ours(call, number))
        return -EBADF;
    fd_look_socket(number, &fd);
    if (fd_is_simulated(&fd) && (flags & MSG_ERRQUEUE) != 0)
        return -EAGAIN; /* no error is ever queued there, and this call never waits (recv(2)) */
    if (fd.kind == FD_STREAM && stream_is(call->thread->process, fd.socket, STREAM_LISTENS))
        return -ENOTCONN; /* only the tokens of connections could be read */
    if (fd.kind == FD_DATAGRAM)
        return datagram_receive(call, &fd, message, flags);
    if (fd_is_simulated(&fd) && (flags & MSG_OOB) != 0)
        return socket_receive_urgent(number, message, flags);
    if (wants_all(&fd, flags))
        return receive_all(call, &fd, message, flags);
    return receive_one(call, &fd, message, flags);
}

long sys_recvfrom(struct call *call)
{
    uint32_t *length = (uint32_t *)call->a[5];
    struct iovec iov = {(void *)call->a[1], (size_t)call->a[2]};
    struct message_header message = {.iov = &iov, .iov_length = 1};
    long result;

    if (call->a[4] != 0 && !is_bad_pointer(length)) {
        message.name = (void *)call->a[4];
        message.name_length = (int)*length < 0 ? 0 : *length;
    }
    result = receive_message(call, (int)call->a[0], &message, (int)call->a[3]);
    if (result >= 0 && call->a[4] != 0) {
        if ((int)*length < 0) /* this is checked last, as in the kernel: the received bytes are lost */
            return -EINVAL;
        *length = message.name_length;
    }
    return result;
}

long sys_recvmsg(struct call *call)
{
    struct message_header *message = (void *)call->a[1];
    long result;

    if (is_bad_pointer(message))
        return -EFAULT;
    result = message_check(message);
    return result != 0 ? result : receive_message(call, (int)call->a[0], message, (int)call->a[2]);
}

#define MSG_WAITFORONE 0x10000

long sys_recvmmsg(struct call *call)
{
    bool stop_when_dry = (call->a[3] & MSG_WAITFORONE) != 0;

    call->a[3] &= ~MSG_WAITFORONE;
    if (call->a[4] != 0)
        stop_when_dry = true; /* the timeout is checked only between datagrams, see recvmmsg(2) */
    return message_each(call, receive_message, stop_when_dry);
}
