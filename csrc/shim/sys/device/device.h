/* Room sys/device: which files stand for devices of the host's own, and the programs that decide which processes may open them.
 *
 * May call core and below. sys/file makes, opens and changes devices; sys/io writes to them.
 */
#ifndef SIMUNIX_SYS_DEVICE_H
#define SIMUNIX_SYS_DEVICE_H

#include "shim/core/core.h"

/* device.c */
struct device {
    unsigned type; /* S_IFCHR or S_IFBLK */
    uint32_t major, minor;
};
bool device_refuses(struct thread *thread, const struct stat *status, uint64_t flags);
bool device_find(struct thread *thread, uint64_t file_system, uint64_t inode, struct device *found);
bool device_may_have_inode(const struct thread *thread, uint64_t inode);
bool descriptor_is_device(struct thread *thread, long fd);
uint64_t device_number(uint32_t major, uint32_t minor);

/* rights.c */
enum { CAP_CHOWN = 0, CAP_SYS_ADMIN = 21, CAP_MKNOD = 27 };
bool has_host_capability(unsigned capability, unsigned otherwise);

/* A regular file with the bit S_ISVTX, which has no meaning on such files, may stand for a device. */
#define DEVICE_MARK S_ISVTX
static inline bool has_device_mark(const struct thread *thread, unsigned mode)
{
    return (mode & (S_IFMT | DEVICE_MARK)) == (S_IFREG | DEVICE_MARK) && thread->process->page->devices != 0;
}
static inline bool is_device(struct thread *thread, const struct stat *status)
{
    struct device found;

    return has_device_mark(thread, status->st_mode) && device_find(thread, status->st_dev, status->st_ino, &found);
}

#endif
