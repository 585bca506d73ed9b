/* Opening: a FIFO waits for its other side, the random devices are the host's own. */
#include "file_times.h"

#include <linux/openat2.h>

#define OWN_PATH_MAX 1024

long random_open(struct call *call, int flags);

/* One opening, in the fullest form that Linux has; open, creat and openat are special cases. */
struct opening {
    int directory;
    const char *path;
    struct open_how how;
};

static long open_natively(const struct opening *opening, uint64_t more_flags)
{
    struct open_how how = opening->how;

    how.flags |= more_flags;
    return NATIVE(openat2, opening->directory, opening->path, &how, sizeof how);
}

/* Who waits for the other side of a FIFO waits at a futex word that stands for its inode. */
static struct wait fifo_wait(const struct stat *status)
{
    return (struct wait){
        .kind = PARK_FUTEX,
        .deadline = NEVER,
        .a = SPACE_FIFOS,
        .b = inode_word(status),
        .c = ~0U,
    };
}

/* One side of a FIFO has been opened, or waits for the other: let the others look. */
static void fifo_changed(struct call *call, const struct stat *status)
{
    struct wait wait = fifo_wait(status);
    struct reply reply;

    ASK(call->thread, &reply, OP_WAKE, SPACE_FIFOS, (int64_t)wait.b, 1 << 30, ~0U);
}

/* With no data there, a read tells whether there is a writer (-EAGAIN) or not (0). */
static bool has_no_writer(long fd)
{
    struct pollfd entry = {.fd = (int)fd, .events = POLLIN};
    char byte;

    return NATIVE(poll, &entry, 1, 0) == 0 && NATIVE(read, fd, &byte, 1) == 0;
}

/* A writer tries until there is a reader; a reader opens, which lets writers in, and then waits for one. */
static long open_fifo(struct call *call, const struct opening *opening, const struct stat *status)
{
    bool reads = (opening->how.flags & O_ACCMODE) == O_RDONLY;
    struct wait wait = fifo_wait(status);
    long result = 0;
    long fd;

    while ((fd = open_natively(opening, O_NONBLOCK)) == -ENXIO && result >= 0)
        result = wait_on(call, &wait, true);
    if (fd < 0)
        return result < 0 ? result : fd;
    fifo_changed(call, status);
    while (reads && result >= 0 && has_no_writer(fd))
        result = wait_on(call, &wait, true);
    if (result < 0) {
        NATIVE(close, fd);
        return result;
    }
    /* this description is ours alone */
    NATIVE(fcntl, fd, F_SETFL, opening->how.flags & ~(uint64_t)(O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY));
    return fd;
}

static bool is_fifo(const struct stat *status)
{
    return (status->st_mode & S_IFMT) == S_IFIFO;
}

/* What would be opened, asked through a descriptor that opens nothing, so that all restrictions hold. */
static bool look_at(const struct opening *opening, struct stat *status)
{
    struct opening look = {opening->directory, opening->path, {.flags = O_PATH | O_CLOEXEC, .resolve = opening->how.resolve}};
    bool found;
    long fd;

    look.how.flags |= opening->how.flags & O_NOFOLLOW;
    fd = open_natively(&look, 0);
    if (fd < 0)
        return false;
    found = NATIVE(fstat, fd, status) == 0;
    NATIVE(close, fd);
    return found;
}

/* With these flags even a FIFO's opening does not wait; but it may be what others wait for. */
static bool answers_at_once(const struct opening *opening)
{
    return (opening->how.flags & O_NONBLOCK) != 0 || (opening->how.flags & O_ACCMODE) == O_RDWR;
}

/* Hand back what the kernel gave; one side of a FIFO is told to those who wait for it. */
static long opened(struct call *call, const struct opening *opening, long fd)
{
    struct stat status;

    if (fd >= 0 && (opening->how.flags & (O_PATH | O_DIRECTORY)) == 0 && answers_at_once(opening) &&
        NATIVE(fstat, fd, &status) == 0 && is_fifo(&status))
        fifo_changed(call, &status);
    return descriptor_checked(call, proc_file_opened(call, opening->path, opening->how.flags, fd));
}

static bool may_wait(const struct opening *opening)
{
    return (opening->how.flags & (O_PATH | O_DIRECTORY)) == 0 && !answers_at_once(opening);
}

static bool is_random(const char *path)
{
    return text_equal(path, "/dev/urandom") || text_equal(path, "/dev/random");
}

static long open_path(struct call *call, int directory, const char *path, int flags, int mode)
{
    struct opening opening = {directory, path, {.flags = (unsigned int)flags}};
    struct file_opening change;
    struct stat status;
    char own[OWN_PATH_MAX];
    long fd;

    if (!is_bad_pointer(path)) {
        path = opening.path = host_file(call->thread->process, path, own, sizeof own);
        if (is_random(path))
            return random_open(call, flags);
        if (text_equal(path, "/dev/vsock")) /* see sys_socket: the family goes with its device */
            return -ENODEV;
        if (may_wait(&opening) && NATIVE(newfstatat, directory, path, &status, 0) == 0 && is_fifo(&status)) {
            if (flags & O_CREAT)
                opening.how.mode = (unsigned int)mode & 07777;
            return descriptor_checked(call, open_fifo(call, &opening, &status));
        }
    }
    file_before_open(call->thread, directory, path, flags, &change);
    fd = NATIVE(openat, directory, path, flags, mode);
    file_after_open(call->thread, &change, fd);
    return opened(call, &opening, fd);
}

long sys_open(struct call *call)
{
    return open_path(call, AT_FDCWD, (const char *)call->a[0], (int)call->a[1], (int)call->a[2]);
}

long sys_creat(struct call *call)
{
    return open_path(call, AT_FDCWD, (const char *)call->a[0], O_CREAT | O_WRONLY | O_TRUNC, (int)call->a[1]);
}

long sys_openat(struct call *call)
{
    return open_path(call, (int)call->a[0], (const char *)call->a[1], (int)call->a[2], (int)call->a[3]);
}

long sys_openat2(struct call *call)
{
    struct opening opening = {(int)call->a[0], (const char *)call->a[1], {.flags = 0}};
    struct file_opening change;
    struct stat status;
    char own[OWN_PATH_MAX];
    long fd;

    if (!is_bad_pointer((void *)call->a[2]) && !is_bad_pointer(opening.path) && (size_t)call->a[3] == sizeof opening.how) {
        memcpy(&opening.how, (void *)call->a[2], sizeof opening.how);
        if (opening.how.resolve == 0) /* else it asks to stay below a folder, or off links */
            opening.path = host_file(call->thread->process, opening.path, own, sizeof own);
        if (is_random(opening.path) && opening.how.resolve == 0)
            return random_open(call, (int)opening.how.flags);
        if (may_wait(&opening) && look_at(&opening, &status) && is_fifo(&status))
            return descriptor_checked(call, open_fifo(call, &opening, &status));
    }
    file_before_open(call->thread, opening.directory, opening.path, (long)opening.how.flags, &change);
    fd = NATIVE(openat2, call->a[0], opening.path, call->a[2], call->a[3]);
    file_after_open(call->thread, &change, fd);
    return opened(call, &opening, fd);
}
