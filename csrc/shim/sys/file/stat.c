/* stat and similar calls: the kernel's answer with the times of the emulation. */
#include "shim/sys/file/file.h"
#include "shim/sys/procfs/procfs.h"

/* Set the device of a file: for a path of the host on a storage, the device that mountinfo shows; else the kernel's. */
static struct shown_device device_at(const struct thread *thread, struct shown_device kernels, long folder, const char *path,
                                     long flags)
{
    const struct stored_mount *mount = NULL;

    if (__builtin_expect(thread->process->storage.count != 0, 0))
        mount = stored_mount_at(thread->process, folder, path, flags);
    return mount == NULL ? kernels : stored_mount_device(mount);
}

static void show_device(const struct thread *thread, struct stat *status, long folder, const char *path, long flags)
{
    const struct shown_device none = {0, 0};
    struct shown_device device = device_at(thread, none, folder, path, flags);

    if (device.minor != 0)
        status->st_dev = device_number(device.major, device.minor);
}

static void show(struct thread *thread, struct stat *status)
{
    struct file_stamps stamps = {{{(int64_t)status->st_atime, (int64_t)status->st_atime_nsec},
                                  {(int64_t)status->st_mtime, (int64_t)status->st_mtime_nsec},
                                  {(int64_t)status->st_ctime, (int64_t)status->st_ctime_nsec}}};

    file_show(thread, status->st_dev, status->st_ino, &stamps);
    status->st_atime = (unsigned long)stamps.at[STAMP_ACCESS].seconds;
    status->st_atime_nsec = (unsigned long)stamps.at[STAMP_ACCESS].nanoseconds;
    status->st_mtime = (unsigned long)stamps.at[STAMP_WRITE].seconds;
    status->st_mtime_nsec = (unsigned long)stamps.at[STAMP_WRITE].nanoseconds;
    status->st_ctime = (unsigned long)stamps.at[STAMP_CHANGE].seconds;
    status->st_ctime_nsec = (unsigned long)stamps.at[STAMP_CHANGE].nanoseconds;
}

/* A file that stands for a device is shown as that device. */
static void show_type(struct thread *thread, struct stat *status)
{
    struct device device;

    if (__builtin_expect(!has_device_mark(thread, status->st_mode), 1) ||
        !device_find(thread, status->st_dev, status->st_ino, &device))
        return;
    status->st_mode = (status->st_mode & ~(unsigned)(S_IFMT | DEVICE_MARK)) | device.type;
    status->st_rdev = device_number(device.major, device.minor);
}

/* stat, lstat, fstat */
long sys_stat(struct call *call)
{
    long result;

    if (call->number == __NR_fstat && descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    result = syscall6(call->number, call->a[0], call->a[1], 0, 0, 0, 0);
    if (result != 0)
        return result;
    show(call->thread, (struct stat *)call->a[1]);
    show_type(call->thread, (struct stat *)call->a[1]);
    if (call->number == __NR_fstat)
        show_device(call->thread, (struct stat *)call->a[1], call->a[0], "", AT_EMPTY_PATH);
    else
        show_device(call->thread, (struct stat *)call->a[1], AT_FDCWD, (const char *)call->a[0],
                    call->number == __NR_lstat ? AT_SYMLINK_NOFOLLOW : 0);
    return 0;
}

long sys_newfstatat(struct call *call)
{
    long result = NATIVE(newfstatat, call->a[0], call->a[1], call->a[2], call->a[3]);

    if (result != 0)
        return result;
    show(call->thread, (struct stat *)call->a[2]);
    show_type(call->thread, (struct stat *)call->a[2]);
    show_device(call->thread, (struct stat *)call->a[2], call->a[0], (const char *)call->a[1], call->a[3]);
    return 0;
}

static struct kernel_timespec read_stamp(const struct statx_timestamp *stamp)
{
    return (struct kernel_timespec){stamp->tv_sec, stamp->tv_nsec};
}

static struct statx_timestamp write_stamp(const struct kernel_timespec *time)
{
    return (struct statx_timestamp){.tv_sec = time->seconds, .tv_nsec = (uint32_t)time->nanoseconds};
}

/* Only the file system knows the time of birth of a file, in real time. So for files that were made in this run, no
 * time of birth is returned. */
static void hide_birth(struct thread *thread, struct statx *status)
{
    int64_t begun_s = thread->process->page->begun_ns / SECOND_NS;

    if (status->stx_btime.tv_sec < begun_s)
        return;
    status->stx_mask &= ~(uint32_t)STATX_BTIME;
    status->stx_btime = (struct statx_timestamp){0};
}

static void show_type_in_statx(struct thread *thread, struct statx *status)
{
    struct device device;

    if (__builtin_expect(!has_device_mark(thread, status->stx_mode), 1) ||
        !device_find(thread, device_number(status->stx_dev_major, status->stx_dev_minor), status->stx_ino, &device))
        return;
    status->stx_mode = (uint16_t)((status->stx_mode & ~(unsigned)(S_IFMT | DEVICE_MARK)) | device.type);
    status->stx_rdev_major = device.major;
    status->stx_rdev_minor = device.minor;
}

long sys_statx(struct call *call)
{
    struct statx *status = (void *)call->a[4];
    /* The shim asks the kernel for all times: newer kernels leave out times that are not asked for, and the shim may
     * need one time to compute another. */
    uint32_t mask = (uint32_t)call->a[3] | STATX_ATIME | STATX_MTIME | STATX_CTIME | STATX_TYPE | STATX_MODE | STATX_INO;
    long result = NATIVE(statx, call->a[0], call->a[1], call->a[2], mask, call->a[4]);
    struct shown_device device;
    struct file_stamps stamps;

    if (result != 0)
        return result;
    stamps =
        (struct file_stamps){{read_stamp(&status->stx_atime), read_stamp(&status->stx_mtime), read_stamp(&status->stx_ctime)}};
    file_show(call->thread, device_number(status->stx_dev_major, status->stx_dev_minor), status->stx_ino, &stamps);
    status->stx_atime = write_stamp(&stamps.at[STAMP_ACCESS]);
    status->stx_mtime = write_stamp(&stamps.at[STAMP_WRITE]);
    status->stx_ctime = write_stamp(&stamps.at[STAMP_CHANGE]);
    hide_birth(call->thread, status);
    show_type_in_statx(call->thread, status);
    device = device_at(call->thread, (struct shown_device){status->stx_dev_major, status->stx_dev_minor}, call->a[0],
                       (const char *)call->a[1], call->a[2]);
    status->stx_dev_major = device.major;
    status->stx_dev_minor = device.minor;
    return 0;
}
