/* The state of simulated streams: errors, ends, and whether there is a peer. A call on the kernel's pair would wait
 * where an internet socket returns ENOTCONN or EPIPE at once. The server knows the state of each stream, and writes it
 * into the shared memory for connected streams. */
#include "shim/core/memory.h"
#include "shim/sys/poll/poll.h"
#include "shim/sys/socket/socket.h"
#include "shim/turn/turn.h"

/* Return the error with which the kernel has marked the pair; the kernel reports it once. */
int socket_take_error(int fd)
{
    int error = 0;
    uint32_t length = sizeof error;

    return NATIVE(getsockopt, fd, SOL_SOCKET_LEVEL, SO_ERROR, &error, &length) == 0 ? error : 0;
}

static uint32_t stream_word(const struct process *process, int64_t id)
{
    const uint32_t *streams = (const uint32_t *)((const char *)process->page + SIMUNIX_STREAMS_OFFSET);

    return __atomic_load_n(&streams[id % SIMUNIX_STREAMS], __ATOMIC_RELAXED);
}

/* Return whether the shared memory shows this state for a TCP socket, connected or listening. If not, the server must
 * be asked. */
bool stream_is(const struct process *process, int64_t id, enum simunix_stream what)
{
    uint32_t word = stream_word(process, id);

    return (word & ~(uint32_t)(STREAM_READS_NO_MORE | STREAM_MORE)) == ((uint32_t)id | (uint32_t)what);
}

/* Return the error that an internet socket has to report, once, as -errno. The pair can only report ECONNRESET; the
 * server knows the real error, also if the pair could not be marked. A TCP socket with an error is not shown as
 * connected. */
long socket_pending_error(struct call *call, const struct fd *fd)
{
    struct reply reply;
    int error = 0;
    int marked;

    if (fd->kind == FD_DATAGRAM)
        return datagram_take_error(fd->number);
    if (fd->kind != FD_STREAM)
        return 0;
    marked = socket_take_error(fd->number);
    if (stream_is(call->thread->process, fd->socket, STREAM_CONNECTED))
        return -marked;
    if (ASK(call->thread, &reply, OP_SOCKET_GET, fd->socket, SOL_SOCKET_LEVEL, SO_ERROR) == 0 && reply.values.kind[1] == 'b')
        memcpy(&error, reply.values.bytes[1], sizeof error);
    return error != 0 ? -error : -marked;
}

/* Return whether a TCP socket may be shut down for reading, or waiting for more. If the result is false, the socket is
 * not shut down; if it is true, the server must be asked. */
static bool stream_may_be(const struct process *process, int64_t id, enum simunix_stream what)
{
    uint32_t word = stream_word(process, id);

    return (word & ~(uint32_t)SIMUNIX_STREAM_BITS) != (uint32_t)id || (word & (uint32_t)what) != 0;
}

/* Return whether this is a TCP socket that the shared memory does not show as connected. */
static bool must_ask(const struct call *call, const struct fd *fd)
{
    return fd->kind == FD_STREAM && !stream_is(call->thread->process, fd->socket, STREAM_CONNECTED);
}

/* Return 0 if data may be sent or received (now, or once connected), -ENOTCONN for a simulated stream that has no peer. */
static long not_connected(struct call *call, const struct fd *fd)
{
    struct reply reply;

    if (!must_ask(call, fd))
        return 0;
    ASK(call->thread, &reply, OP_CONNECTED, fd->socket);
    return reply.status < 0 ? reply.status : 0;
}

/* Return bytes that came after the application has shut a TCP socket down for reading, which the pair does not take any
 * more; 0: none. */
static long receive_late(struct call *call, const struct fd *fd, const struct message_header *message, int flags)
{
    struct reply reply;
    size_t size, done = 0;

    if (!stream_may_be(call->thread->process, fd->socket, STREAM_READS_NO_MORE) ||
        ASK(call->thread, &reply, OP_LATE, fd->socket, (int64_t)message_size(message), (flags & MSG_PEEK) != 0) != 0 ||
        reply.values.count < 2 || reply.values.kind[1] != 'b')
        return 0;
    size = reply.values.length[1];
    for (size_t i = 0; i < message->iov_length && done < size; i++) {
        size_t piece = message->iov[i].iov_len < size - done ? message->iov[i].iov_len : size - done;

        memcpy(message->iov[i].iov_base, reply.values.bytes[1] + done, piece);
        done += piece;
    }
    return (long)done;
}

/* Return the result of a call that receives. Only the server knows whether an internet connection has ended regularly,
 * or is broken. */
long socket_received(struct call *call, const struct fd *fd, const struct message_header *message, int flags, long result)
{
    long error;

    if ((result != 0 && result != -ECONNRESET) || fd->kind != FD_STREAM)
        return result;
    if (result == 0) {
        result = receive_late(call, fd, message, flags);
        if (result != 0)
            return result;
    }
    error = socket_pending_error(call, fd);
    if (error == 0 && result == 0) /* the end of a connection, or of an attempt to connect */
        error = not_connected(call, fd);
    return error != 0 ? error : result;
}

/* The kernel reports a stream as readable that contains only an urgent byte, also if this byte was read already; but a
 * read would skip the byte and wait. Skip the byte now, and return true if there are no other bytes. */
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

/* Wait until there is something to receive; return 0 then, or if the kernel's answer is wanted at once. */
long socket_wait_to_receive(struct call *call, const struct fd *fd, int flags)
{
    struct pollfd entry = {.fd = fd->number, .events = POLLIN | POLLPRI};
    long result;

    NATIVE(poll, &entry, 1, 0);
    if ((entry.revents & ~POLLPRI) != 0 && ((entry.revents & POLLPRI) == 0 || !skip_urgent(fd->number)))
        return 0;
    result = not_connected(call, fd);
    if (result != 0 || (flags & MSG_DONTWAIT) != 0)
        return result;
    if ((entry.revents & POLLPRI) == 0 && !must_ask(call, fd)) /* no byte has arrived since the poll */
        return wait_blocked(call, fd->number, POLLIN, SO_RCVTIMEO);
    return wait_ready(call, fd->number, POLLIN, SO_RCVTIMEO);
}

/* Wait until there is room to send; return 0 then, or the result of the call. An error that the socket has to report
 * comes first. */
long socket_wait_to_send(struct call *call, const struct fd *fd, int timeout_option)
{
    long result = wait_ready(call, fd->number, POLLOUT, timeout_option);

    return result == WAIT_ERROR ? socket_pending_error(call, fd) : result;
}

/* Tell the server that the bytes which are sent next with MSG_MORE wait for more bytes. */
void stream_more_follows(struct call *call, const struct fd *fd)
{
    struct reply reply;

    ASK(call->thread, &reply, OP_MORE, fd->socket, 1);
}

/* Return the result of a call that was to send so many bytes. Bytes that waited for more leave together with bytes that
 * were sent without MSG_MORE. */
long stream_sent(struct call *call, const struct fd *fd, int flags, size_t size, long result)
{
    struct reply reply;

    if (fd->kind != FD_STREAM)
        return result;
    if (result == -EAGAIN || (result >= 0 && (size_t)result < size))
        epoll_expect_edge(fd->socket);
    if ((flags & MSG_MORE) == 0 && result > 0 && stream_may_be(call->thread->process, fd->socket, STREAM_MORE))
        ASK(call->thread, &reply, OP_MORE, fd->socket, 0);
    return result;
}

/* A send without a peer returns EPIPE, and raises SIGPIPE. */
long socket_cannot_send(struct call *call, const struct fd *fd, int flags)
{
    struct process *process = call->thread->process;

    if (not_connected(call, fd) == 0)
        return 0;
    if ((flags & MSG_NOSIGNAL) == 0)
        NATIVE(tgkill, process->ids.pid, call->thread->ids.tid, SIGPIPE);
    return -EPIPE;
}
