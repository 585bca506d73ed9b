/* Mounts of the host whose files are on storages.
 *
 * The kernel says to which mount a descriptor or path belongs: nothing is stored for a descriptor, since dup, fork,
 * exec or passing could make it wrong. Mounts that a process has made itself (unshare(2), CLONE_NEWNS) are not among
 * these, and are on no storage. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/procfs/procfs.h"

#define RECORD_ROOM 4096

static uint64_t take_number(const char **text)
{
    uint64_t number = 0;

    while (**text >= '0' && **text <= '9')
        number = 10 * number + (uint64_t)(*(*text)++ - '0');
    if (**text != '\0')
        (*text)++;
    return number;
}

/* Read the file that the host's set-up has written: a line for each mount, with the mount's number, the storage's
 * number, and flags. A process with another root directory than the host does not find this file. */
__attribute__((cold)) void stored_mounts_read(struct process *process)
{
    char text[RECORD_ROOM];
    const char *at = text;
    long fd = NATIVE(openat, AT_FDCWD, "/run/simunix/storages", O_RDONLY | O_CLOEXEC, 0);
    long size = fd < 0 ? 0 : NATIVE(read, fd, text, sizeof text - 1);

    if (fd >= 0)
        NATIVE(close, fd);
    text[size > 0 ? size : 0] = '\0';
    while (*at != '\0' && process->storage.count < STORED_MOUNTS_MAX) {
        struct stored_mount *mount = &process->storage.mounts[process->storage.count++];

        mount->mount = take_number(&at);
        mount->storage = take_number(&at);
        mount->flags = take_number(&at);
        process->storage.flags |= mount->flags;
        if (at[-1] == ' ') /* the file server's name of the mount: sys/procfs/mounts.c */
            while (*at != '\0' && *at++ != '\n')
                ;
    }
}

const struct stored_mount *stored_mount_numbered(const struct process *process, uint64_t mount)
{
    for (unsigned i = 0; i < process->storage.count; i++)
        if (process->storage.mounts[i].mount == mount)
            return &process->storage.mounts[i];
    return NULL;
}

/* Return the mount of a file or folder, if it is on a modelled storage, and the status of the file; the path "" means
 * the file of a descriptor. */
const struct stored_mount *stored_mount_of(const struct process *process, long folder, const char *path, struct statx *status)
{
    if (NATIVE(statx, folder, path, AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE | STATX_MNT_ID, status) != 0)
        return NULL;
    if ((status->stx_mode & S_IFMT) != S_IFREG && (status->stx_mode & S_IFMT) != S_IFDIR)
        return NULL;
    return stored_mount_numbered(process, status->stx_mnt_id);
}

uint64_t stored_device(const struct statx *status)
{
    return device_number(status->stx_dev_major, status->stx_dev_minor);
}

/* Return the device that the host sees for a mount: the storage with number 0 is the second disk, 8:16. Mounts of file
 * servers have no disk. */
struct shown_device stored_mount_device(const struct stored_mount *mount)
{
    if ((mount->flags & STORED_REMOTE) != 0)
        return (struct shown_device){0, REMOTE_MINOR + (uint32_t)mount->storage};
    return (struct shown_device){8, 16 * ((uint32_t)mount->storage + 1)};
}

/* Return the mount of any kind of file, as stat(2) finds it: if the path is "", `folder` is a descriptor of the file. */
const struct stored_mount *stored_mount_at(const struct process *process, long folder, const char *path, long flags)
{
    struct statx status;

    if (NATIVE(statx, folder, path, flags, STATX_MNT_ID, &status) != 0)
        return NULL;
    return stored_mount_numbered(process, status.stx_mnt_id);
}

/* Return the number by which the server knows a file. The number has no meaning, and differs in each run. */
uint64_t stored_file_number(uint64_t device, uint64_t inode)
{
    return (inode ^ device << 40) & INT64_MAX;
}

/* Tell the server that a file is shorter now, or was removed, or is new and so has no pages. */
void stored_file_cut(struct thread *thread, const struct stat *status, uint64_t size)
{
    struct reply reply;

    if (thread->process->storage.count != 0 && (status->st_mode & S_IFMT) == S_IFREG)
        ASK(thread, &reply, OP_STORAGE, STORAGE_CUT, 0UL, stored_file_number(status->st_dev, status->st_ino), size, 0UL, 0UL);
}
