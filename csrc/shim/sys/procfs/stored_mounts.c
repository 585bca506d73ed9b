/* Mounts of the host whose files are kept on storages.
 *
 * Of which mount a descriptor or path is, the kernel knows: nothing is kept for a descriptor that dup, fork, exec or passing
 * could outdate. Mounts that a process has made itself (unshare(2), CLONE_NEWNS) are none of the host's, and on no storage. */
#include "shim/core/memory.h"
#include "shim/sys/procfs/procfs.h"

#define RECORD_ROOM 2048

static uint64_t take_number(const char **text)
{
    uint64_t number = 0;

    while (**text >= '0' && **text <= '9')
        number = 10 * number + (uint64_t)(*(*text)++ - '0');
    if (**text != '\0')
        (*text)++;
    return number;
}

/* Read what the host's set-up has written down: a line for each mount, with its number, the storage's, and whether that has a
 * capacity. A process that has another root than the host does not find it. */
void stored_mounts_read(struct process *process)
{
    char text[RECORD_ROOM];
    const char *at = text;
    long fd = NATIVE(openat, AT_FDCWD, "/run/simunix/storages", O_RDONLY | O_CLOEXEC, 0);
    long size = fd < 0 ? 0 : NATIVE(read, fd, text, sizeof text - 1);

    if (fd >= 0)
        NATIVE(close, fd);
    text[size > 0 ? size : 0] = '\0';
    while (*at != '\0' && process->stored_count < STORED_MOUNTS_MAX) {
        struct stored_mount *mount = &process->stored[process->stored_count++];

        mount->mount = take_number(&at);
        mount->storage = take_number(&at);
        mount->is_limited = take_number(&at);
    }
}

const struct stored_mount *stored_mount_numbered(const struct process *process, uint64_t mount)
{
    for (unsigned i = 0; i < process->stored_count; i++)
        if (process->stored[i].mount == mount)
            return &process->stored[i];
    return NULL;
}

/* The mount of a file or folder, if it is kept on a storage, and what the file is; with the path "" that of a descriptor. */
const struct stored_mount *stored_mount_of(const struct process *process, long folder, const char *path, struct statx *status)
{
    if (NATIVE(statx, folder, path, AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE | STATX_MNT_ID, status) != 0)
        return NULL;
    if ((status->stx_mode & S_IFMT) != S_IFREG && (status->stx_mode & S_IFMT) != S_IFDIR)
        return NULL;
    return stored_mount_numbered(process, status->stx_mnt_id);
}
