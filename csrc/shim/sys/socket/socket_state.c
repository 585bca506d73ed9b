/* Streams that are not connected: the kernel's pair would wait where an internet socket says ENOTCONN or EPIPE at once. Only the
 * server knows; a stream that has been connected once need not be asked about again. */
#include "shim.h"

/* What the kernel has marked the pair with; told once. */
int socket_take_error(int fd)
{
    int error = 0;
    uint32_t length = sizeof error;

    return NATIVE(getsockopt, fd, SOL_SOCKET_LEVEL, SO_ERROR, &error, &length) == 0 ? error : 0;
}

/* The error that an internet socket has to tell, once, as -errno. The pair can only say ECONNRESET; the server knows better, and
 * alone where the pair could not be marked. */
long socket_pending_error(struct call *call, int fd)
{
    char type;
    int64_t id = socket_id(fd, &type);
    struct reply reply;
    int error = 0;
    int marked;

    if (id < 0 || type == 'n')
        return 0;
    if (type == 'd')
        return datagram_take_error(fd);
    marked = socket_take_error(fd);
    if (ASK(call->thread, &reply, OP_SOCKET_GET, id, SOL_SOCKET_LEVEL, SO_ERROR) == 0 && reply.values.kind[1] == 'b')
        memcpy(&error, reply.values.bytes[1], sizeof error);
    return error != 0 ? -error : -marked;
}

/* What a call that receives has got, if that is an end or an error: of an internet connection, only the server knows which. */
long socket_received(struct call *call, int fd, long result)
{
    char type;
    long error;

    if ((result != 0 && result != -ECONNRESET) || socket_id(fd, &type) < 0 || type != 's')
        return result;
    error = socket_pending_error(call, fd);
    return error != 0 ? error : result;
}

/* Does the server say so of a stream in the shared memory? */
bool stream_is(const struct process *process, int64_t id, enum simunix_stream what)
{
    const uint32_t *streams = (const uint32_t *)((const char *)process->page + SIMUNIX_STREAMS_OFFSET);

    return __atomic_load_n(&streams[id % SIMUNIX_STREAMS], __ATOMIC_RELAXED) == ((uint32_t)id | (uint32_t)what);
}

/* 0 if data may come or go (now or once connected), -ENOTCONN for a stream of ours that has no peer. */
long socket_not_connected(struct call *call, int fd)
{
    struct reply reply;
    char type;
    int64_t id = socket_id(fd, &type);

    if (id < 0 || type != 's' || stream_is(call->thread->process, id, STREAM_CONNECTED))
        return 0;
    ASK(call->thread, &reply, OP_CONNECTED, id);
    return reply.status < 0 ? reply.status : 0;
}

/* Of a stream with nothing but an urgent byte the kernel says that it is readable, but a read would skip that byte and wait: skip
 * it now. The same goes for what is left of one that has been read. True if there is nothing else. */
static bool skip_urgent(int fd)
{
    char byte;

    if (NATIVE(recvfrom, fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL) != -EAGAIN)
        return false;
    NATIVE(recvfrom, fd, &byte, 1, MSG_DONTWAIT, NULL, NULL);
    return true;
}

/* recv with MSG_OOB never waits, see tcp(7). */
long socket_receive_urgent(int fd, struct message_header *message, int flags)
{
    long result = NATIVE(recvmsg, fd, message, flags | MSG_DONTWAIT);

    if (result > 0 && (flags & MSG_PEEK) == 0)
        skip_urgent(fd);
    message->name_length = 0;
    return result;
}

/* Wait until there is something to receive; 0 then, or if the kernel's answer is wanted at once. */
long socket_wait_to_receive(struct call *call, int fd, int flags)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN | POLLPRI};
    long result;

    NATIVE(poll, &entry, 1, 0);
    if ((entry.revents & ~POLLPRI) != 0 && ((entry.revents & POLLPRI) == 0 || !skip_urgent(fd)))
        return 0;
    result = socket_not_connected(call, fd);
    if (result != 0 || (flags & MSG_DONTWAIT) != 0)
        return result;
    return wait_ready(call, fd, POLLIN, SO_RCVTIMEO);
}

/* Sending without a peer is a broken pipe, with its signal. */
long socket_cannot_send(struct call *call, int fd, int flags)
{
    struct process *process = call->thread->process;

    if (socket_not_connected(call, fd) == 0)
        return 0;
    if ((flags & MSG_NOSIGNAL) == 0)
        NATIVE(tgkill, process->pid, call->thread->tid, SIGPIPE);
    return -EPIPE;
}
