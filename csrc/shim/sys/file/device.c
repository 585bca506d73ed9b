/* Devices that are files of the host's own: calls that make, open and change them, and writes to them. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/file/file.h"
#include "tables/newer_syscalls.h"

#define BLOCK_MODE 06777 /* the bits of a mode that the file keeps besides the mark */
#define PARTS_MAX 1024   /* UIO_MAXIOV */
#define WRITE_MAX 0x7ffff000UL
#define NODEV 4 /* ST_NODEV of statfs(2) */

struct file_system {
    long type, block_size, blocks, free, available, files, free_files, id, name_length, fragment_size, flags, spare[4];
};

/* mknod, mknodat. The kernel refuses callers without permission, and makes files that are no devices, and whiteouts of
 * overlays. */
long sys_mknod(struct call *call)
{
    int path_at = call->number == __NR_mknodat;
    long folder = path_at == 1 ? call->a[0] : AT_FDCWD;
    unsigned mode = (unsigned)call->a[path_at + 1];
    uint32_t number = (uint32_t)call->a[path_at + 2];
    struct call file = *call;
    struct stat status;
    struct reply reply;
    long result;

    if (((mode & S_IFMT) != S_IFCHR && (mode & S_IFMT) != S_IFBLK) || ((mode & S_IFMT) == S_IFCHR && number == 0) ||
        !has_host_capability(CAP_MKNOD, CAP_CHOWN))
        return sys_add_name(call);
    file.a[path_at + 1] = S_IFREG | DEVICE_MARK | (mode & BLOCK_MODE);
    result = sys_add_name(&file);
    if (result != 0)
        return result;
    result = NATIVE(newfstatat, folder, call->a[path_at], &status, AT_SYMLINK_NOFOLLOW);
    if (result != 0)
        return result;
    result = ASK(call->thread, &reply, OP_DEVICE, DEVICE_MADE, (int64_t)status.st_dev, (int64_t)status.st_ino, mode & S_IFMT,
                 number);
    if (result != 0)
        NATIVE(unlinkat, folder, call->a[path_at], 0);
    return result;
}

/* Mounts of this computer's file systems have the flag `nodev` in contained hosts (csrc/hostinit/containment/mounts.c).
 * Programs of the host must not notice this flag; the server knows which mounts have it for this reason. */
static bool is_for_no_devices(struct thread *thread, long fd, const struct stat *status)
{
    struct file_system system;
    struct statx more;
    struct reply reply;

    if (NATIVE(fstatfs, fd, &system) != 0 || (system.flags & NODEV) == 0)
        return false;
    return (thread->process->flags & HELLO_FLAG_CONTAINED) == 0 ||
           (NATIVE(statx, fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &more) == 0 &&
            ASK(thread, &reply, OP_DEVICE, DEVICE_ON_MOUNT, (int64_t)status->st_dev, 0, (int64_t)more.stx_mnt_id, 0) != 0);
}

/* The file of the terminal is opened by its name, since /dev/tty depends on the calling process. */
static long open_terminal(uint64_t flags)
{
    struct stat status;
    long fd = NATIVE(openat, AT_FDCWD, "/dev/tty", flags & ~(uint64_t)(O_CREAT | O_EXCL), 0);

    if (fd < 0 || (NATIVE(fstat, fd, &status) == 0 && (status.st_mode & S_IFMT) == S_IFCHR))
        return fd;
    NATIVE(close, fd);
    return -ENXIO;
}

/* Get a descriptor of the device in the host's own /dev from the server, since the process may not see that folder,
 * e.g. after chroot(2). */
static long open_memory(struct call *call, const struct stat *status, uint64_t flags)
{
    struct reply reply;
    int64_t result = ASK(call->thread, &reply, OP_DEVICE, DEVICE_DESCRIPTOR, (int64_t)status->st_dev, (int64_t)status->st_ino,
                         (int64_t)flags & (O_ACCMODE | O_APPEND | O_NONBLOCK), 0);

    if (result < 0)
        return result;
    if ((flags & O_CLOEXEC) == 0)
        NATIVE(fcntl, reply.fd, F_SETFD, 0);
    return reply.fd;
}

/* Open a file that `status` shows to be a device. The kernel checks whether the file may be opened; O_TRUNC has no effect. */
long device_open(struct call *call, const struct opening *opening, const struct stat *status)
{
    struct opening own = *opening;
    struct reply reply;
    int64_t driver;
    long fd;

    own.how.flags &= ~(uint64_t)O_TRUNC;
    fd = open_natively(&own, 0);
    if (fd < 0)
        return fd;
    driver = is_for_no_devices(call->thread, fd, status)
                 ? -EACCES
                 : ASK(call->thread, &reply, OP_DEVICE, DEVICE_OPEN, (int64_t)status->st_dev, (int64_t)status->st_ino,
                       (int64_t)own.how.flags, 0);
    if (driver == DRIVER_NOTHING)
        return fd;
    NATIVE(close, fd); /* this comes first, so that the application gets the lowest free number */
    if (driver < 0)
        return driver;
    if (driver == DRIVER_RANDOM)
        return random_open(call, (int)own.how.flags);
    return driver == DRIVER_TERMINAL ? open_terminal(own.how.flags) : open_memory(call, status, own.how.flags);
}

/* If a program sets the mark on a file itself, the inode may have belonged to a device before; the server forgets it. */
static void forget(struct call *call, const struct stat *status)
{
    struct reply reply;

    if (call->thread->process->page->devices != 0 && (status->st_mode & (S_IFMT | DEVICE_MARK)) == S_IFREG)
        ASK(call->thread, &reply, OP_DEVICE, DEVICE_FORGET, (int64_t)status->st_dev, (int64_t)status->st_ino, 0, 0);
}

static long change_mode(struct call *call, int argument, const struct stat *status)
{
    struct call marked = *call;
    long result;

    marked.a[argument + 1] |= DEVICE_MARK;
    result = call_natively(&marked);
    if (result == 0)
        file_note(call->thread, status, FILE_CHANGED);
    return result;
}

static long write_at(struct call *call)
{
    struct iovec one = {(void *)call->a[1], (size_t)call->a[2]};

    if (call->a[3] < 0)
        return -EINVAL;
    return call->number == __NR_pwrite64 ? device_write(call->a[0], &one, 1)
                                         : device_write(call->a[0], (void *)call->a[1], call->a[2]);
}

/* Make a call that changes the file of `status` in the way of a device; -ENOSYS if the file is no device, or if the
 * kernel's own effect is right.
 * An argument of the call names the file, and the next argument is the mode. */
long device_changed(struct call *call, int argument, const struct stat *status)
{
    bool is_mode = call->number == __NR_chmod || call->number == __NR_fchmod || call->number == __NR_fchmodat ||
                   call->number == __NR_fchmodat2;

    if (is_mode && (call->a[argument + 1] & DEVICE_MARK) != 0)
        forget(call, status);
    if (__builtin_expect(!is_device(call->thread, status), 1))
        return -ENOSYS;
    if (is_mode)
        return change_mode(call, argument, status);
    switch (call->number) {
    case __NR_pwrite64:
    case __NR_pwritev:
        return write_at(call);
    case __NR_truncate:
    case __NR_ftruncate:
    case __NR_copy_file_range:
        return -EINVAL;
    case __NR_fallocate:
        return -ENODEV;
    default:
        return -ENOSYS;
    }
}

/* Replace one descriptor in the arguments by a descriptor of the null device, to which the kernel moves the bytes. */
long device_swallows(struct call *call, int argument)
{
    struct call moving = *call;
    long result = NATIVE(write, call->a[argument], "", 0); /* is it open for writing? */

    if (result < 0)
        return result;
    moving.a[argument] = NATIVE(openat, AT_FDCWD, "/dev/null", O_WRONLY | O_CLOEXEC, 0);
    if (moving.a[argument] < 0)
        return -EINVAL;
    result = call_natively(&moving);
    NATIVE(close, moving.a[argument]);
    return result;
}

/* Bytes that are written to a device without function are dropped, and the call returns as if all bytes were written. */
long device_write(long fd, const struct iovec *iov, long count)
{
    long result = NATIVE(write, fd, "", 0);
    size_t size = 0;

    if (result < 0)
        return result;
    if (count < 0 || count > PARTS_MAX)
        return -EINVAL;
    if (count > 0 && is_bad_pointer(iov))
        return -EFAULT;
    for (long i = 0; i < count; i++)
        size += iov[i].iov_len;
    return (long)(size < WRITE_MAX ? size : WRITE_MAX);
}
