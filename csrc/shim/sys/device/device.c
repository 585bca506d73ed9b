/* Devices of the host's own: empty regular files with the sticky bit, which means nothing on such files, and which the kernel
 * keeps through chown, writes and truncation. The server knows which of these files stand for devices, and for which
 * devices (rsg_server/devices/). */
#include "shim/sys/device/device.h"

#include "shim/core/channel.h"

/* Find the device that a file stands for. Returns false if it is an ordinary file. */
__attribute__((cold)) bool device_find(struct thread *thread, uint64_t file_system, uint64_t inode, struct device *found)
{
    struct reply reply;

    if (ASK(thread, &reply, OP_DEVICE, DEVICE_TELL, (int64_t)file_system, (int64_t)inode, 0, 0) != 0)
        return false;
    found->type = (unsigned)reply_number(&reply, 1);
    found->major = (uint32_t)reply_number(&reply, 2);
    found->minor = (uint32_t)reply_number(&reply, 3);
    return true;
}

/* Return false if no file of a device has this inode number, in any file system, so that no further check is needed. */
bool device_may_have_inode(const struct thread *thread, uint64_t inode)
{
    uint64_t bit = (inode * 0x9e3779b97f4a7c15UL) >> 53; /* one of 64 * SIMUNIX_DEVICE_WORDS bits */

    return (thread->process->page->device_inodes[bit / 64] >> bit % 64 & 1) != 0;
}

_Static_assert(64 * SIMUNIX_DEVICE_WORDS == 1 << (64 - 53), "device_may_have_inode");

bool descriptor_is_device(struct thread *thread, long fd)
{
    struct stat status;

    return thread->process->page->devices != 0 && NATIVE(fstat, fd, &status) == 0 && is_device(thread, &status);
}

/* Return whether the programs of the thread's cgroups forbid to open a device of the kernel's own. */
bool device_refuses(struct thread *thread, const struct stat *status, uint64_t flags)
{
    unsigned type = status->st_mode & S_IFMT;
    struct reply reply;

    return thread->process->page->device_programs != 0 && (type == S_IFCHR || type == S_IFBLK) &&
           ASK(thread, &reply, OP_DEVICE, DEVICE_OPEN_REAL, (int64_t)flags, 0, type, (int64_t)status->st_rdev) != 0;
}

/* Return the number of a device as stat(2) has it; see new_encode_dev of Linux. */
uint64_t device_number(uint32_t major, uint32_t minor)
{
    return (minor & 0xff) | major << 8 | (uint64_t)(minor & ~0xffU) << 12;
}
