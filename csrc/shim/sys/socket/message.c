/* Messages of several parts, and calls of several messages. */
#include "shim/sys/socket/socket.h"

#define PARTS_MAX 1024 /* UIO_MAXIOV */

/* Return how many bytes the parts of a message contain, or have room for. */
size_t message_size(const struct message_header *message)
{
    size_t total = 0;

    for (size_t i = 0; i < message->iov_length && i < PARTS_MAX; i++)
        total += message->iov[i].iov_len;
    return total;
}

/* Check a message of sendmsg(2) or recvmsg(2) as the kernel does first. Returns 0 or -errno. */
long message_check(const struct message_header *message)
{
    if (message->name != NULL && (int)message->name_length < 0)
        return -EINVAL;
    if (message->iov_length > PARTS_MAX)
        return -EMSGSIZE;
    for (size_t i = 0; i < message->iov_length; i++)
        if ((long)message->iov[i].iov_len < 0)
            return -EINVAL;
    return 0;
}

/* Write the rest of a message after `done` bytes of its first parts into `rest`, at most `room` parts. */
size_t message_skip(const struct message_header *message, size_t done, struct iovec *rest, size_t room)
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

/* Return whether a socket takes bytes rather than messages. */
bool message_is_stream(int fd)
{
    int type = 0;
    uint32_t length = sizeof type;

    return NATIVE(getsockopt, fd, SOL_SOCKET_LEVEL, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

struct many_header {
    struct message_header message;
    uint32_t length;
};

/* sendmmsg, recvmmsg: handle the messages one after the other. After an error in a later message, the call returns the
 * number of messages before it. */
long message_each(struct call *call, message_handler handler, bool stop_when_dry)
{
    struct many_header *many = (void *)call->a[1];
    int flags = (int)call->a[3];
    long done = 0;

    if (is_bad_pointer(many))
        return -EFAULT;
    for (; done < (long)(unsigned)call->a[2]; done++) {
        long result = handler(call, (int)call->a[0], &many[done].message, flags);

        if (result < 0)
            return done > 0 ? done : result;
        many[done].length = (uint32_t)result;
        if (stop_when_dry)
            flags |= MSG_DONTWAIT;
    }
    return done;
}
