/* read, write and their kin on any descriptor, and descriptors themselves. */
#include "file_times.h"

#define RWF_NOWAIT_FLAG 0x8
#define RWF_HARMLESS 0x17 /* HIPRI, DSYNC, SYNC, APPEND: nothing to a pipe or a socket */
#define SPLICE_NONBLOCK 2 /* SPLICE_F_NONBLOCK */
#define PIPE_PIECE 4096

/* Is this one end of a simulated datagram socket, whose messages carry a header? */
static bool is_datagram(int fd)
{
    int type = 0;
    uint32_t length = sizeof type;
    char kind;

    if (NATIVE(getsockopt, fd, SOL_SOCKET_LEVEL, SO_TYPE, &type, &length) != 0 || type != SOCK_SEQPACKET)
        return false;
    return socket_id(fd, &kind) >= 0 && kind == 'd';
}

static long do_native(struct call *call)
{
    return syscall6(call->number, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4], call->a[5]);
}

long sys_read(struct call *call)
{
    int fd = (int)call->a[0];
    long result;

    if (descriptor_is_ours(call, fd))
        return -EBADF;
    if (call->number == __NR_read && call->a[2] == 0)
        return do_native(call);
    if (is_datagram(fd)) {
        struct iovec one = {(void *)call->a[1], (size_t)call->a[2]};
        struct message_header message = {.iov = &one, .iov_length = 1};

        if (call->number == __NR_readv) {
            message.iov = (void *)call->a[1];
            message.iov_length = (size_t)call->a[2];
        }
        return datagram_receive(call, fd, &message, 0);
    }
    result = socket_wait_to_receive(call, fd, 0);
    if (result == 0)
        result = do_native(call);
    if (result > 0 && call->number == __NR_read && terminal_of_master(fd) >= 0)
        result = terminal_read_on(fd, (char *)call->a[1], (size_t)call->a[2], result);
    if (result == 0 && random_refill(call, fd))
        return do_native(call);
    return socket_received(call, fd, result);
}

/* Regular files never wait. */
static bool is_file(int fd, struct stat *status)
{
    return NATIVE(fstat, fd, status) == 0 && is_regular(status);
}

static int type_of(int fd)
{
    struct stat status;

    return NATIVE(fstat, fd, &status) != 0 ? 0 : (int)(status.st_mode & S_IFMT);
}

/* As much as goes without waiting; -EAGAIN if nothing does. */
static long write_some(int fd, int type, const char *bytes, size_t size)
{
    struct iovec iov = {(void *)bytes, size};
    struct pollfd entry = {.fd = fd, .events = POLLOUT};
    long result;

    if (type == S_IFSOCK) {
        result = NATIVE(sendto, fd, bytes, size, MSG_DONTWAIT, NULL, 0);
        return result;
    }
    result = NATIVE(pwritev2, fd, &iov, 1, -1, -1, RWF_NOWAIT_FLAG);
    if (result != -EOPNOTSUPP)
        return result;
    /* A FIFO that cannot: what poll calls writable takes one piece. */
    if (NATIVE(poll, &entry, 1, 0) == 0)
        return -EAGAIN;
    return NATIVE(write, fd, bytes, size < PIPE_PIECE ? size : PIPE_PIECE);
}

/* A blocking write of any size to a pipe or stream socket: in pieces, giving the turn back between them. */
static long write_all(struct call *call, int fd, int type, const char *bytes, size_t size)
{
    int64_t deadline = socket_deadline(call, fd, SO_SNDTIMEO);
    size_t done = 0;

    while (done < size) {
        long result = write_some(fd, type, bytes + done, size - done);

        if (result == -EAGAIN) {
            struct pollfd entry = {.fd = fd, .events = POLLOUT};

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

/* Whatever has room takes a small write at once; only pipes and sockets ever wait for more room than that. */
static long write_bytes(struct call *call, int fd, const char *bytes, size_t size)
{
    int terminal = terminal_of_master(fd);
    int type;

    if (terminal >= 0) {
        long typed = terminal_type(call, terminal, bytes, size);

        if (typed != -EAGAIN)
            return typed;
    }
    if (size > PIPE_PIECE && !is_nonblocking(fd)) {
        type = type_of(fd);
        if (type == S_IFIFO || type == S_IFSOCK)
            return write_all(call, fd, type, bytes, size);
    }
    return NATIVE(write, fd, bytes, size);
}

long sys_write(struct call *call)
{
    int fd = (int)call->a[0];
    struct iovec one = {(void *)call->a[1], (size_t)call->a[2]};
    struct message_header message = {.iov = &one, .iov_length = 1};
    struct stat status;
    long result;

    if (descriptor_is_ours(call, fd))
        return -EBADF;
    if (is_file(fd, &status))
        return file_written(call, &status, do_native(call));
    if (is_datagram(fd))
        return datagram_send(call, fd, &message, 0);
    result = wait_ready(call, fd, POLLOUT, SO_SNDTIMEO);
    if (result == 0)
        result = eventfd_await_room(call, fd);
    return result != 0 ? result : write_bytes(call, fd, (const char *)call->a[1], (size_t)call->a[2]);
}

long sys_writev(struct call *call)
{
    int fd = (int)call->a[0];
    const struct iovec *iov = (void *)call->a[1];
    struct message_header message = {.iov = (void *)iov, .iov_length = (size_t)call->a[2]};
    struct stat status;
    size_t total = 0;
    size_t done = 0;
    long result;

    if (descriptor_is_ours(call, fd))
        return -EBADF;
    if (is_file(fd, &status))
        return file_written(call, &status, do_native(call));
    if (is_datagram(fd))
        return datagram_send(call, fd, &message, 0);
    result = wait_ready(call, fd, POLLOUT, SO_SNDTIMEO);
    if (result != 0)
        return result;
    for (long i = 0; !is_bad_pointer(iov) && i < call->a[2] && i < 1024; i++)
        total += iov[i].iov_len;
    if (total <= PIPE_PIECE || is_nonblocking(fd))
        return do_native(call);
    for (long i = 0; i < call->a[2]; i++) {
        result = write_bytes(call, fd, iov[i].iov_base, iov[i].iov_len);
        if (result < 0)
            return done > 0 ? (long)done : result;
        done += (size_t)result;
        if ((size_t)result < iov[i].iov_len)
            break;
    }
    return (long)done;
}

/* preadv2, pwritev2: only with the offset -1, on what is no regular file, do they wait; then they are readv and writev. */
static long at_position(struct call *call, long number, call_handler handler)
{
    struct stat status;
    bool found = NATIVE(fstat, call->a[0], &status) == 0;

    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    if (found && is_regular(&status) && number == __NR_writev)
        return file_written(call, &status, do_native(call));
    if (call->a[3] != -1 || (call->a[5] & ~RWF_HARMLESS) != 0 || !found || is_regular(&status) ||
        (status.st_mode & S_IFMT) == S_IFBLK)
        return do_native(call);
    call->number = number;
    return handler(call);
}

long sys_preadv2(struct call *call)
{
    return at_position(call, __NR_readv, sys_read);
}

long sys_pwritev2(struct call *call)
{
    return at_position(call, __NR_writev, sys_writev);
}

/* vmsplice waits for room, or for data at a pipe's reading end, then takes what goes at once. */
long sys_vmsplice(struct call *call)
{
    int fd = (int)call->a[0];
    bool writes = (NATIVE(fcntl, fd, F_GETFL, 0) & O_ACCMODE) == O_WRONLY;
    long result = (call->a[3] & SPLICE_NONBLOCK) != 0 ? 0 : wait_ready(call, fd, writes ? POLLOUT : POLLIN, 0);

    if (result != 0)
        return result;
    if (!is_nonblocking(fd))
        call->a[3] |= SPLICE_NONBLOCK;
    return do_native(call);
}

/* sendfile to a pipe or socket: pieces that fit what poll promises. */
long sys_sendfile(struct call *call)
{
    int out = (int)call->a[0];
    size_t size = (size_t)call->a[3];
    size_t done = 0;
    struct stat status;

    if (is_file(out, &status))
        return file_written(call, &status, do_native(call));
    while (done < size) {
        size_t piece = size - done < PIPE_PIECE * 4 ? size - done : PIPE_PIECE * 4;
        long result = wait_ready(call, out, POLLOUT, SO_SNDTIMEO);

        if (result == 0)
            result = NATIVE(sendfile, out, call->a[1], call->a[2], piece);
        if (result < 0)
            return done > 0 ? (long)done : result;
        if (result == 0)
            break;
        done += (size_t)result;
    }
    return (long)done;
}

/* splice, tee: wait for both ends, then move without waiting. Which argument is the output differs. */
static long move_pipe(struct call *call, int in, int out, int flags_at)
{
    long result;

    if (call->a[flags_at] & SPLICE_NONBLOCK)
        return do_native(call);
    for (;;) {
        result = wait_ready(call, in, POLLIN, 0);
        if (result == 0)
            result = wait_ready(call, out, POLLOUT, 0);
        if (result != 0)
            return result;
        call->a[flags_at] |= SPLICE_NONBLOCK;
        result = do_native(call);
        if (result != -EAGAIN || is_nonblocking(in) || is_nonblocking(out))
            return result;
        clock_charge_poll(call);
    }
}

long sys_splice(struct call *call)
{
    struct stat status;
    bool to_file = is_file((int)call->a[2], &status);
    long result = move_pipe(call, (int)call->a[0], (int)call->a[2], 5);

    return to_file ? file_written(call, &status, result) : result;
}

long sys_tee(struct call *call)
{
    return move_pipe(call, (int)call->a[0], (int)call->a[1], 3);
}

long sys_close(struct call *call)
{
    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    lock_released(call, call->a[0]);
    return NATIVE(close, call->a[0]);
}

long sys_close_range(struct call *call)
{
    unsigned int floor = (unsigned int)call->thread->process->descriptor_floor;
    unsigned int first = (unsigned int)call->a[0];
    unsigned int last = (unsigned int)call->a[1];

    if (first > last)
        return -EINVAL;
    if (first >= floor)
        return 0;
    if (call->thread->process->page->lock_waiters != 0)
        for (unsigned int fd = first; fd <= last && fd < floor; fd++)
            lock_released(call, fd);
    return NATIVE(close_range, first, last < floor ? last : floor - 1, call->a[2]);
}

/* dup2, dup3: the target must be a number that the application may have. */
long sys_dup_onto(struct call *call)
{
    if (descriptor_is_ours(call, call->a[0]) || descriptor_is_ours(call, call->a[1]) ||
        (uint64_t)(unsigned int)call->a[1] >= call->thread->process->nofile_soft)
        return -EBADF;
    if (call->a[0] != call->a[1])
        lock_released(call, call->a[1]);
    return do_native(call);
}

long sys_dup(struct call *call)
{
    return descriptor_is_ours(call, call->a[0]) ? -EBADF : descriptor_checked(call, do_native(call));
}

/* Calls that give back a new descriptor and never wait. */
long sys_new_descriptor(struct call *call)
{
    return descriptor_checked(call, do_native(call));
}

/* Pairs of new descriptors (pipe, pipe2, socketpair); `at` is the argument that points to them. */
static long checked_pair(struct call *call, int at)
{
    long result = do_native(call);
    int *pair = (int *)call->a[at];

    if (result != 0 || descriptor_checked(call, pair[0]) >= 0) {
        if (result != 0 || descriptor_checked(call, pair[1]) >= 0)
            return result;
        NATIVE(close, pair[0]);
        return -EMFILE;
    }
    NATIVE(close, pair[1]);
    return -EMFILE;
}

long sys_pipe(struct call *call)
{
    return checked_pair(call, 0);
}

long sys_socketpair(struct call *call)
{
    return checked_pair(call, 3);
}

/* signalfd's readiness is that of whoever asks, so only the process itself can tell: see park(). */
long sys_signalfd(struct call *call)
{
    uint64_t mask;

    call->thread->process->has_signalfd = true;
    if (!is_bad_pointer((void *)call->a[1])) {
        mask = signals_strip(*(uint64_t *)call->a[1]);
        call->a[1] = (long)&mask;
    }
    return descriptor_checked(call, do_native(call));
}

/* The server's look at an epoll of ours asks a signalfd in it whether the *server* has signals, and the kernel strikes it off
 * the epoll's ready list. Setting the mask of any signalfd wakes the queue of all that this process has, which puts them back:
 * done with one of our own, whichever of the application's, passed or duplicated, it may be. */
void signalfd_refresh(struct thread *thread)
{
    uint64_t nothing = 0;
    long fd;

    if (!thread->process->has_signalfd)
        return;
    fd = NATIVE(signalfd4, -1, &nothing, sizeof nothing, O_CLOEXEC);
    if (fd < 0)
        return;
    NATIVE(signalfd4, fd, &nothing, sizeof nothing, 0);
    NATIVE(close, fd);
}

/* What is written is in the page cache, which outlives every emulated process; waiting for the real disk would only make the
 * run slower, and the slowness of this computer's disk is not the emulated host's. */
long sys_fsync(struct call *call)
{
    long result = descriptor_is_ours(call, call->a[0]) ? -EBADF : NATIVE(fcntl, call->a[0], F_GETFD, 0);

    return result < 0 ? result : 0;
}

long sys_sync(struct call *call)
{
    (void)call;
    return 0;
}
