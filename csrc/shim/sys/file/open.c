/* Opening of files: a FIFO waits for its other side; the random devices, and some files of /proc, are the emulated
 * host's own. */
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/file/file.h"
#include "shim/sys/procfs/procfs.h"

#define OWN_PATH_MAX 1024

/* Find the file that an open would open, by a descriptor with O_PATH, so that all restrictions of the call apply. */
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

/* With these flags the opening of a FIFO does not wait, but other threads may be waiting for this opening. */
static bool answers_at_once(const struct opening *opening)
{
    return (opening->how.flags & O_NONBLOCK) != 0 || (opening->how.flags & O_ACCMODE) == O_RDWR;
}

/* Return the kernel's result; wake threads that wait for this side of a FIFO. */
static long opened(struct call *call, const struct opening *opening, long fd)
{
    struct stat status;

    if (fd >= 0 && (opening->how.flags & (O_PATH | O_DIRECTORY)) == 0 && answers_at_once(opening) &&
        NATIVE(fstat, fd, &status) == 0 && is_fifo(&status))
        fifo_changed(call, &status);
    fd = cgroup_file_opened(call, opening->path, opening->how.flags, fd);
    return proc_file_opened(call, opening->path, opening->how.flags, fd);
}

static bool may_wait(const struct opening *opening)
{
    return (opening->how.flags & (O_PATH | O_DIRECTORY)) == 0 && !answers_at_once(opening);
}

static bool is_to_be_looked_at(const struct call *call, const struct opening *opening)
{
    const struct simunix_clock_page *page = call->thread->process->page;

    return may_wait(opening) || ((page->devices | page->device_programs) != 0 && (opening->how.flags & O_PATH) == 0);
}

/* Open a file that the shim, and not the kernel, must open; return false if `status` shows no such file. */
static bool opened_otherwise(struct call *call, const struct opening *opening, const struct stat *status, long *fd)
{
    if (may_wait(opening) && is_fifo(status))
        *fd = fifo_open(call, opening, status);
    else if (is_device(call->thread, status))
        *fd = device_open(call, opening, status);
    else if (device_refuses(call->thread, status, opening->how.flags))
        *fd = -EPERM;
    else
        return false;
    return true;
}

static bool is_random(const char *path)
{
    return text_equal(path, "/dev/urandom") || text_equal(path, "/dev/random");
}

static bool is_refused(const struct call *call, const char *path, uint64_t flags)
{
    struct stat status;

    return call->thread->process->page->device_programs != 0 && NATIVE(newfstatat, AT_FDCWD, path, &status, 0) == 0 &&
           device_refuses(call->thread, &status, flags);
}

/* No program may make files in folders of cgroups: return the errno of kernfs. But the wanted file may be a control
 * file that does not exist yet. */
static bool makes_control_file(struct thread *thread, const struct opening *opening, struct file_opening *change)
{
    if (!change->has_folder || !is_in_cgroups(thread, &change->folder))
        return false;
    if (cgroup_file_may_be(opening->path) && cgroup_file_appears(thread, opening->directory, opening->path))
        file_before_open(thread, opening->directory, opening->path, change->flags, change);
    return change->has_folder;
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
            return is_refused(call, path, (uint64_t)(unsigned)flags) ? -EPERM : random_open(call, flags);
        if (text_equal(path, "/dev/vsock")) /* see sys/socket/family.c: the family goes with its device */
            return -ENODEV;
        if (is_to_be_looked_at(call, &opening) && NATIVE(newfstatat, directory, path, &status, 0) == 0) {
            if (flags & O_CREAT)
                opening.how.mode = (unsigned int)mode & 07777;
            if (opened_otherwise(call, &opening, &status, &fd))
                return open_own_again(call, path, flags, fd);
        }
    }
    if (power_file_open(call, directory, path, (uint64_t)(unsigned)flags, &fd))
        return fd;
    file_before_open(call->thread, directory, path, flags, &change);
    if (makes_control_file(call->thread, &opening, &change))
        return -EACCES;
    fd = NATIVE(openat, directory, path, flags, mode);
    file_after_open(call->thread, &change, fd);
    return open_own_again(call, path, flags, opened(call, &opening, fd));
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
        if (opening.how.resolve == 0) /* with other flags the caller asks to stay below a folder, or not to follow links */
            opening.path = host_file(call->thread->process, opening.path, own, sizeof own);
        if (is_random(opening.path) && opening.how.resolve == 0)
            return is_refused(call, opening.path, opening.how.flags) ? -EPERM : random_open(call, (int)opening.how.flags);
        if (is_to_be_looked_at(call, &opening) && look_at(&opening, &status) && opened_otherwise(call, &opening, &status, &fd))
            return fd;
    }
    file_before_open(call->thread, opening.directory, opening.path, (long)opening.how.flags, &change);
    if (makes_control_file(call->thread, &opening, &change))
        return -EACCES;
    fd = NATIVE(openat2, call->a[0], opening.path, call->a[2], call->a[3]);
    file_after_open(call->thread, &change, fd);
    return opened(call, &opening, fd);
}
