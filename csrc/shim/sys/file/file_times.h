/* When files were made, written and changed in virtual time: what stat(2) shows instead of the kernel's own stamps. */
#ifndef SIMUNIX_FILE_TIMES_H
#define SIMUNIX_FILE_TIMES_H

#include "shim.h"

enum file_stamp { STAMP_ACCESS, STAMP_WRITE, STAMP_CHANGE, STAMP_COUNT };

/* Which of its times a call has changed: a new file bears all three, writing changes the last two, chmod only the last. */
enum file_change { FILE_NEW, FILE_WRITTEN, FILE_CHANGED };

struct file_stamps {
    struct kernel_timespec at[STAMP_COUNT];
};

/* file_times.c: the table. A file is known by its device and inode, as `status` of before or after the change has them. */
void file_note(struct thread *thread, const struct stat *status, enum file_change change);
void file_note_times(struct thread *thread, const struct stat *status, const struct kernel_timespec *access,
                     const struct kernel_timespec *write);
void file_gone(struct thread *thread, const struct stat *status);
void file_show(struct thread *thread, uint64_t device, uint64_t inode, struct file_stamps *stamps);

/* sys_file_change.c */
struct file_opening {
    long flags;
    bool existed, has_folder;
    struct stat file, folder;
};
long file_written(struct call *call, const struct stat *before, long result);
void file_mapped(struct thread *thread, long fd);
long file_bind(struct call *call);
void file_before_open(struct thread *thread, long folder, const char *path, long flags, struct file_opening *opening);
void file_after_open(struct thread *thread, const struct file_opening *opening, long fd);
static inline bool is_regular(const struct stat *status)
{
    return (status->st_mode & S_IFMT) == S_IFREG;
}

#endif
