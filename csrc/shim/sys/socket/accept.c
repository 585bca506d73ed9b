/* accept(2): a listening socket contains one token byte for each connection that can be accepted. */
#include "shim/sys/socket/socket.h"
#include "shim/turn/turn.h"

/* Return whether a socket listens without a token of a connection, so that the server need not be asked. */
static bool nobody_connects(const struct process *process, int fd, int64_t id)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN};

    return stream_is(process, id, STREAM_LISTENS) && NATIVE(poll, &entry, 1, 0) == 0;
}

static bool is_datagram(int fd)
{
    struct fd looked_at;

    fd_look_socket(fd, &looked_at);
    return looked_at.kind == FD_DATAGRAM;
}

static long accept_one(struct call *call, int64_t id, int flags)
{
    struct process *process = call->thread->process;
    struct reply reply = {.status = -EAGAIN};
    char token;

    while (nobody_connects(process, (int)call->a[0], id) || ASK(call->thread, &reply, OP_ACCEPT, id) < 0) {
        long result;

        if (reply.status == -EINVAL && is_datagram((int)call->a[0]))
            return -EOPNOTSUPP;
        if (reply.status != -EAGAIN || is_nonblocking((int)call->a[0]))
            return reply.status;
        /* Another thread or process has taken the connection, so the token of this connection must wake no further thread. */
        NATIVE(recvfrom, call->a[0], &token, 1, MSG_DONTWAIT, NULL, NULL);
        result = wait_ready(call, (int)call->a[0], POLLIN, SO_RCVTIMEO);
        if (result != 0)
            return result;
    }
    NATIVE(recvfrom, call->a[0], &token, 1, MSG_DONTWAIT, NULL, NULL);
    address_store_reply((void *)call->a[1], (uint32_t *)call->a[2], &reply);
    return socket_finish(reply.fd, flags);
}

static bool listens(int fd)
{
    int value = 0;
    uint32_t length = sizeof value;

    return NATIVE(getsockopt, fd, SOL_SOCKET_LEVEL, SO_ACCEPTCONN, &value, &length) == 0 && value != 0;
}

static long accept_any(struct call *call, int flags)
{
    int64_t id = socket_id((int)call->a[0]);
    long result = descriptor_is_free(call); /* before a client is taken from the queue */

    if (result != 0)
        return result;
    if (call->a[1] != 0 && *(int *)call->a[2] < 0)
        return -EINVAL;
    if (id >= 0)
        return accept_one(call, id, flags);
    if (!listens((int)call->a[0])) /* the kernel reports what is wrong */
        return NATIVE(accept4, call->a[0], call->a[1], call->a[2], flags);
    result = wait_ready(call, (int)call->a[0], POLLIN, SO_RCVTIMEO);
    if (result != 0)
        return result;
    return NATIVE(accept4, call->a[0], call->a[1], call->a[2], flags);
}

long sys_accept(struct call *call)
{
    return accept_any(call, 0);
}

long sys_accept4(struct call *call)
{
    if ((call->a[3] & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) != 0)
        return -EINVAL;
    return accept_any(call, (int)call->a[3]);
}
