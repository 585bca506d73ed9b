/* write, writev, pwritev2. The kind of a descriptor decides how bytes are written: see the table `writers`. */
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/file/file.h"
#include "shim/sys/io/io.h"
#include "shim/sys/poll/poll.h"
#include "shim/sys/procfs/procfs.h"
#include "shim/sys/socket/socket.h"
#include "shim/turn/turn.h"

#define RWF_NOWAIT_FLAG 0x8
#define RWF_HARMLESS 0x17 /* HIPRI, DSYNC, SYNC, APPEND: without effect on a pipe or a socket */
#define PARTS_MAX 1024

/* Writes bytes by a descriptor that is no regular file and holds no datagrams. */
typedef long (*writer)(struct call *call, const struct fd *fd, const char *bytes, size_t size);

/* Wait until a descriptor that is no regular file takes bytes; return 0 then, or the result of the call. */
long wait_to_write(struct call *call, const struct fd *fd, int timeout_option)
{
    long result;

    if (fd->kind >= FD_SOCKET)
        return socket_wait_to_send(call, fd, timeout_option);
    result = wait_ready(call, fd->number, POLLOUT, 0);
    return result == WAIT_ERROR ? 0 : result; /* a pipe without readers: the kernel returns the error, and sends SIGPIPE */
}

/* Write as many bytes as can be written without waiting; return -EAGAIN if there are none. */
static long write_some(const struct fd *fd, const char *bytes, size_t size)
{
    struct iovec iov = {(void *)bytes, size};
    struct pollfd entry = {.fd = fd->number, .events = POLLOUT};
    long result;

    if (fd->kind >= FD_SOCKET)
        return NATIVE(sendto, fd->number, bytes, size, MSG_DONTWAIT, NULL, 0);
    result = NATIVE(pwritev2, fd->number, &iov, 1, -1, -1, RWF_NOWAIT_FLAG);
    if (result != -EOPNOTSUPP)
        return result;
    /* For a FIFO that cannot be written without waiting, write one piece, for which poll guarantees room. */
    if (NATIVE(poll, &entry, 1, 0) == 0)
        return -EAGAIN;
    return NATIVE(write, fd->number, bytes, size < SURE_ROOM ? size : SURE_ROOM);
}

/* A blocking write of any size to a pipe or stream socket: in pieces, giving the turn back between them. */
static long write_all(struct call *call, const struct fd *fd, const char *bytes, size_t size)
{
    int64_t deadline = fd->kind >= FD_SOCKET ? socket_deadline(call, fd->number, SO_SNDTIMEO) : NEVER;
    size_t done = 0;

    while (done < size) {
        long result = write_some(fd, bytes + done, size - done);

        if (result == -EAGAIN) {
            struct pollfd entry = {.fd = fd->number, .events = POLLOUT};

            result = wait_polled(call, &entry, 1, deadline, done == 0);
            if (result == WAKE_TIMEOUT)
                result = -EAGAIN;
            else if (result >= 0)
                continue;
        }
        if (result < 0)
            return done > 0 ? (long)done : result;
        done += (size_t)result;
    }
    return (long)done;
}

static long write_any(struct call *call, const struct fd *fd, const char *bytes, size_t size)
{
    (void)call;
    return NATIVE(write, fd->number, bytes, size);
}

/* Pipes and sockets: a small write is made at once if there is room; a larger one may wait for more room. */
static long write_pipe(struct call *call, const struct fd *fd, const char *bytes, size_t size)
{
    if (size > SURE_ROOM && !is_nonblocking(fd->number))
        return write_all(call, fd, bytes, size);
    return write_any(call, fd, bytes, size);
}

static long write_terminal(struct call *call, const struct fd *fd, const char *bytes, size_t size)
{
    int terminal = terminal_of_master(fd->number);
    long typed = terminal >= 0 ? terminal_type(call, terminal, bytes, size) : -EAGAIN;

    return typed != -EAGAIN ? typed : write_any(call, fd, bytes, size);
}

static const writer writers[FD_KINDS] = {
    [FD_NONE] = write_any,       [FD_FILE] = write_any,      [FD_PIPE] = write_pipe,     [FD_TERMINAL] = write_terminal,
    [FD_SLAVE] = terminal_write, [FD_ANONYMOUS] = write_any, [FD_OTHER] = write_any,     [FD_SOCKET] = write_pipe,
    [FD_STREAM] = write_pipe,    [FD_NETLINK] = write_pipe,  [FD_DATAGRAM] = write_pipe,
};

/* A write to a file whose content the server has goes to the server; the kernel makes all other writes. */
static long write_file(struct call *call, const struct fd *fd, const struct iovec *iov, long count)
{
    long result;

    if (is_device(call->thread, &fd->status))
        return device_write(fd->number, iov, count);
    while (count > 1 && iov->iov_len == 0) {
        iov++;
        count--;
    }
    if (fd->status.st_nlink == 0 && count > 0 && !is_bad_pointer(iov) &&
        (result = power_file_written(call, &fd->status, iov->iov_base, iov->iov_len)) != -ENOSYS)
        return result;
    if (is_in_cgroups(call->thread, &fd->status) && count > 0 && !is_bad_pointer(iov))
        return cgroup_file_written(call, &fd->status, iov->iov_base, iov->iov_len);
    return file_written(call, &fd->status, call_natively(call));
}

long sys_write(struct call *call)
{
    struct iovec one = {(void *)call->a[1], (size_t)call->a[2]};
    struct message_header message = {.iov = &one, .iov_length = 1};
    struct fd fd;
    long result;

    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    fd_look((int)call->a[0], &fd);
    if (fd.kind == FD_FILE)
        return write_file(call, &fd, &one, 1);
    if (fd.kind == FD_DATAGRAM)
        return datagram_send(call, &fd, &message, 0);
    result = wait_to_write(call, &fd, SO_SNDTIMEO);
    if (result == 0 && fd.kind == FD_ANONYMOUS)
        result = eventfd_await_room(call, fd.number);
    if (result != 0)
        return stream_sent(call, &fd, 0, one.iov_len, result);
    result = writers[fd.kind](call, &fd, (const char *)call->a[1], one.iov_len);
    return stream_sent(call, &fd, 0, one.iov_len, result);
}

/* Write part by part, until a part is not written whole. */
static long write_parts(struct call *call, const struct fd *fd, const struct iovec *iov, long count)
{
    size_t done = 0;

    for (long i = 0; i < count; i++) {
        long result = writers[fd->kind](call, fd, iov[i].iov_base, iov[i].iov_len);

        if (result < 0)
            return done > 0 ? (long)done : result;
        done += (size_t)result;
        if ((size_t)result < iov[i].iov_len)
            break;
    }
    return (long)done;
}

static long write_vector(struct call *call, const struct fd *fd)
{
    const struct iovec *iov = (void *)call->a[1];
    struct message_header message = {.iov = (void *)iov, .iov_length = (size_t)call->a[2]};
    size_t total = 0;
    long result;

    if (fd->kind == FD_FILE)
        return write_file(call, fd, iov, call->a[2]);
    if (fd->kind == FD_DATAGRAM)
        return datagram_send(call, fd, &message, 0);
    result = wait_to_write(call, fd, SO_SNDTIMEO);
    if (result != 0)
        return result;
    for (long i = 0; !is_bad_pointer(iov) && i < call->a[2] && i < PARTS_MAX; i++)
        total += iov[i].iov_len;
    if (fd->kind != FD_SLAVE && (total <= SURE_ROOM || is_nonblocking(fd->number)))
        return stream_sent(call, fd, 0, total, call_natively(call));
    return stream_sent(call, fd, 0, total, write_parts(call, fd, iov, call->a[2]));
}

long sys_writev(struct call *call)
{
    struct fd fd;

    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    if ((uint64_t)call->a[2] > PARTS_MAX)
        return call_natively(call); /* the kernel reports what is wrong */
    fd_look((int)call->a[0], &fd);
    return write_vector(call, &fd);
}

/* Return whether preadv2 and pwritev2 mean readv and writev: the offset is -1, and the descriptor is of a kind that may
 * wait. */
bool has_no_position(const struct call *call, const struct fd *fd)
{
    return call->a[3] == -1 && (call->a[5] & ~RWF_HARMLESS) == 0 && fd->kind != FD_NONE && fd->kind != FD_FILE &&
           (fd->status.st_mode & S_IFMT) != S_IFBLK;
}

/* pwritev2 at the offset -1, on a descriptor that is no regular file, is writev. */
long sys_pwritev2(struct call *call)
{
    struct fd fd;

    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    fd_look((int)call->a[0], &fd);
    if (fd.kind == FD_FILE)
        return is_device(call->thread, &fd.status) ? device_write(fd.number, (void *)call->a[1], call->a[2])
                                                   : file_written(call, &fd.status, call_natively(call));
    if (!has_no_position(call, &fd))
        return call_natively(call);
    call->number = __NR_writev;
    return write_vector(call, &fd);
}
