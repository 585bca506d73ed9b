/* Room sys/file: opening, naming, locking and mapping files, and the times of files in virtual time.
 *
 * Owns the table of file times in the shared memory. May call sys/procfs, turn and below. Reading and writing is sys/io's.
 */
#ifndef SIMUNIX_SYS_FILE_H
#define SIMUNIX_SYS_FILE_H

#include <linux/openat2.h>

#include "shim/core/core.h"
#include "shim/sys/device/device.h"

enum file_stamp { STAMP_ACCESS, STAMP_WRITE, STAMP_CHANGE, STAMP_COUNT };

/* Which times of a file a call has changed: a new file gets all three, a write changes the last two, chmod only the last. */
enum file_change { FILE_NEW, FILE_WRITTEN, FILE_CHANGED };

struct file_stamps {
    struct kernel_timespec at[STAMP_COUNT];
};

/* The file at a path before an open that may make or empty the file. */
struct file_opening {
    long flags;
    bool existed, has_folder;
    struct stat file, folder;
};

/* times.c: the table. A file is identified by the device and inode in `status`, which the shim has read before or after
 * the change. */
void file_note(struct thread *thread, const struct stat *status, enum file_change change);
void file_note_times(struct thread *thread, const struct stat *status, const struct kernel_timespec *access,
                     const struct kernel_timespec *write);
void file_gone(struct thread *thread, const struct stat *status);
void file_show(struct thread *thread, uint64_t device, uint64_t inode, struct file_stamps *stamps);

/* change.c */
long file_written(struct call *call, const struct stat *before, long result);
long file_bind(struct call *call);
long sys_add_name(struct call *call);
void file_before_open(struct thread *thread, long folder, const char *path, long flags, struct file_opening *opening);
void file_after_open(struct thread *thread, const struct file_opening *opening, long fd);

/* lock.c */
void lock_released(struct call *call, long fd);

/* The arguments of an open in the form of openat2(2); open, creat and openat are special cases. */
struct opening {
    int directory;
    const char *path;
    struct open_how how;
};

/* own_descriptors.c */
long open_own_again(struct call *call, const char *path, long flags, long result);

/* fifo.c */
long open_natively(const struct opening *opening, uint64_t more_flags);
long fifo_open(struct call *call, const struct opening *opening, const struct stat *status);
bool is_fifo(const struct stat *status);
void fifo_changed(struct call *call, const struct stat *status);

/* device.c */
long device_open(struct call *call, const struct opening *opening, const struct stat *status);
long device_changed(struct call *call, int argument, const struct stat *status);
long device_swallows(struct call *call, int argument);
long device_write(long fd, const struct iovec *iov, long count);

/* random.c */
long random_open(struct call *call, int flags);
bool random_refill(struct call *call, int fd);
long sys_getrandom(struct call *call);

static inline bool is_regular(const struct stat *status)
{
    return (status->st_mode & S_IFMT) == S_IFREG;
}

#endif
