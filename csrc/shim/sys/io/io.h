/* Room sys/io: reading and writing by descriptors of any kind, moving bytes between two descriptors, and calls on
 * descriptors themselves.
 *
 * Owns the tables from a descriptor's kind to the way in which it is read and written. The topmost family: it may call
 * sys/socket, sys/file, sys/poll, turn and below.
 */
#ifndef SIMUNIX_SYS_IO_H
#define SIMUNIX_SYS_IO_H

#include "shim/core/fd_kind.h"
#include "shim/sys/device/device.h"

#define SURE_ROOM 4096 /* the bytes that fit into a pipe which poll reports as writable: PIPE_BUF */

/* write.c */
long wait_to_write(struct call *call, const struct fd *fd, int timeout_option);
bool has_no_position(const struct call *call, const struct fd *fd);

/* A range of a file on a storage: the number by which the server knows the file (sys/procfs/stored_mounts.c), and the
 * length of the file. */
struct file_bytes {
    uint64_t file;
    int64_t offset;
    uint64_t count, size;
};

/* storage.c */
bool storage_concerns(const struct call *call);
long storage_admit(struct call *call);
long storage_pass(struct call *call, long result);
void storage_no_room(struct call *call);

/* storage_tell.c */
bool storage_may_refuse(const struct call *call, const struct stored_mount *mount);
int64_t storage_room(struct call *call, const struct stored_mount *mount, int64_t wanted);
long storage_wait(struct call *call, const struct stored_mount *mount, uint64_t bytes, uint64_t what);
long storage_tell(struct call *call, const struct stored_mount *mount, enum simunix_storage what, const struct statx *status,
                  int64_t offset, uint64_t bytes);
long storage_tell_of(struct call *call, const struct stored_mount *mount, enum simunix_storage what,
                     const struct file_bytes *bytes);

/* stored_names.c */
bool stored_name_concerns(long number);
long stored_name_admit(struct call *call);
long stored_name_pass(struct call *call, long result);

/* job_control.c */
long job_control_read(struct call *call, int fd);
long job_control_write(struct call *call, int fd);
long job_control_ioctl(struct call *call);

/* terminal.c */
long terminal_type(struct call *call, int number, const char *bytes, size_t size);
long terminal_write(struct call *call, const struct fd *fd, const char *bytes, size_t size);
long terminal_read_on(int fd, char *bytes, size_t size, long done);

#endif
