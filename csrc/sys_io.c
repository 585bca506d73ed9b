/* read, write and their kin on any descriptor, descriptors themselves, and opens that may wait. */
#include "shim.h"

#define RWF_NOWAIT_FLAG 0x8
#define PIPE_PIECE 4096

long random_open(struct call *call, int flags);

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
    result = wait_ready(call, fd, POLLIN, SO_RCVTIMEO);
    if (result == 0)
        result = do_native(call);
    return result == 0 ? socket_end_of_data(call, fd) : result;
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
    int type;

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
    long result;

    if (descriptor_is_ours(call, fd))
        return -EBADF;
    if (is_datagram(fd))
        return datagram_send(call, fd, &message, 0);
    result = wait_ready(call, fd, POLLOUT, SO_SNDTIMEO);
    return result != 0 ? result : write_bytes(call, fd, (const char *)call->a[1], (size_t)call->a[2]);
}

long sys_writev(struct call *call)
{
    int fd = (int)call->a[0];
    const struct iovec *iov = (void *)call->a[1];
    struct message_header message = {.iov = (void *)iov, .iov_length = (size_t)call->a[2]};
    size_t total = 0;
    size_t done = 0;
    long result;

    if (descriptor_is_ours(call, fd))
        return -EBADF;
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

/* sendfile to a pipe or socket: pieces that fit what poll promises. */
long sys_sendfile(struct call *call)
{
    int out = (int)call->a[0];
    size_t size = (size_t)call->a[3];
    size_t done = 0;

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

    if (call->a[flags_at] & 2)
        return do_native(call);
    for (;;) {
        result = wait_ready(call, in, POLLIN, 0);
        if (result == 0)
            result = wait_ready(call, out, POLLOUT, 0);
        if (result != 0)
            return result;
        call->a[flags_at] |= 2; /* SPLICE_F_NONBLOCK */
        result = do_native(call);
        if (result != -EAGAIN || is_nonblocking(in) || is_nonblocking(out))
            return result;
        clock_charge_poll(call);
    }
}

long sys_splice(struct call *call)
{
    return move_pipe(call, (int)call->a[0], (int)call->a[2], 5);
}

long sys_tee(struct call *call)
{
    return move_pipe(call, (int)call->a[0], (int)call->a[1], 3);
}

/* A FIFO's opening waits for the other side: a writer tries until there is a reader, a reader opens and then waits. */
static long open_fifo(struct call *call, int directory, const char *path, int flags)
{
    int64_t pause = 1000000;
    long fd;

    while ((fd = NATIVE(openat, directory, path, flags | O_NONBLOCK, 0)) == -ENXIO) {
        struct wait wait = {.kind = PARK_LOCK, .deadline = clock_after(call->thread, pause)};
        long result = wait_on(call, &wait, true);

        if (result < 0)
            return result;
        pause = pause < SECOND_NS ? 2 * pause : SECOND_NS;
    }
    if (fd < 0)
        return fd;
    if ((flags & O_ACCMODE) == O_RDONLY) {
        struct pollfd entry = {.fd = (int)fd, .events = POLLIN};
        long result = NATIVE(poll, &entry, 1, 0) != 0 ? 0 : wait_polled(call, &entry, 1, NEVER, true);

        if (result < 0) {
            NATIVE(close, fd);
            return result;
        }
    }
    NATIVE(fcntl, fd, F_SETFL, flags & ~(O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY)); /* this description is ours alone */
    return fd;
}

static long open_path(struct call *call, int directory, const char *path, int flags, int mode)
{
    struct stat status;

    if (!is_bad_pointer(path)) {
        if (text_equal(path, "/dev/urandom") || text_equal(path, "/dev/random"))
            return random_open(call, flags);
        if ((flags & (O_NONBLOCK | O_PATH | O_DIRECTORY)) == 0 && (flags & O_ACCMODE) != O_RDWR &&
            NATIVE(newfstatat, directory, path, &status, 0) == 0 && (status.st_mode & S_IFMT) == S_IFIFO)
            return descriptor_checked(call, open_fifo(call, directory, path, flags));
    }
    return descriptor_checked(call, NATIVE(openat, directory, path, flags, mode));
}

long sys_open(struct call *call)
{
    return open_path(call, AT_FDCWD, (const char *)call->a[0], (int)call->a[1], (int)call->a[2]);
}

long sys_openat(struct call *call)
{
    return open_path(call, (int)call->a[0], (const char *)call->a[1], (int)call->a[2], (int)call->a[3]);
}

long sys_close(struct call *call)
{
    return descriptor_is_ours(call, call->a[0]) ? -EBADF : NATIVE(close, call->a[0]);
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
    return NATIVE(close_range, first, last < floor ? last : floor - 1, call->a[2]);
}

/* dup2, dup3: the target must be a number that the application may have. */
long sys_dup_onto(struct call *call)
{
    if (descriptor_is_ours(call, call->a[0]) || descriptor_is_ours(call, call->a[1]) ||
        (uint64_t)(unsigned int)call->a[1] >= call->thread->process->nofile_soft)
        return -EBADF;
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

/* Directory entries of /proc/PID/fd, without the shim's own descriptors. */
struct directory_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

static bool is_own_number(const char *name, int floor)
{
    int number = 0;

    if (*name == '\0')
        return false;
    for (; *name != '\0'; name++) {
        if (*name < '0' || *name > '9' || number > 1 << 24)
            return false;
        number = 10 * number + *name - '0';
    }
    return number >= floor;
}

static bool lists_descriptors(int fd)
{
    char link[64];
    char target[256];
    long size;

    text_append_number(text_append(link, link + sizeof link, "/proc/self/fd/"), link + sizeof link, fd);
    size = NATIVE(readlink, link, target, sizeof target - 1);
    if (size < 9 || !text_starts(target, "/proc/"))
        return false;
    target[size] = '\0';
    return text_equal(target + size - 3, "/fd") || text_equal(target + size - 7, "/fdinfo");
}

long sys_getdents64(struct call *call)
{
    long size = do_native(call);
    char *to = (char *)call->a[1];
    const char *from = to;
    const char *end = to + size;

    if (size <= 0 || !lists_descriptors((int)call->a[0]))
        return size;
    while (from < end) {
        const struct directory_entry *entry = (const void *)from;
        uint16_t length = entry->length;

        if (!is_own_number(entry->name, call->thread->process->descriptor_floor)) {
            memcpy(to, from, length);
            to += length;
        }
        from += length;
    }
    return to - (char *)call->a[1];
}
