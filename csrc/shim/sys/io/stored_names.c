/* Calls on files of mounts that move no bytes: names are looked up and changed, files are opened, closed and resized.
 *
 * As for calls that move bytes (storage.c), the kernel carries out the call first; then the thread waits, if the server
 * says so (rsg_server/storage/storages.py). Only close(2) first writes dirty pages back to a file server, before the
 * descriptor is closed; if this fails, close(2) returns the error although it has closed the descriptor. */
#include "shim/core/memory.h"
#include "shim/sys/io/io.h"
#include "shim/sys/procfs/procfs.h"
#include "tables/newer_syscalls.h"

#define ROWS_MAX 512
#define NOFOLLOW AT_SYMLINK_NOFOLLOW

/* What a call does: looks a name up; opens it; changes the name itself, or the folder that contains it; lists or
 * changes the file of a descriptor; closes a descriptor. */
enum doing { NOTHING, LOOKS, OPENS, CHANGES, CHANGES_FOLDER, LISTS, CHANGES_FILE, CLOSES };

struct row {
    uint8_t doing;
    uint8_t argument; /* 1 for the first: the path, or the descriptor */
    uint8_t folder;   /* the descriptor of the folder from which the path starts; 0: the working directory */
};

static const struct row rows[ROWS_MAX] = {
    [__NR_open] = {OPENS, 1, 0},
    [__NR_creat] = {OPENS, 1, 0},
    [__NR_openat] = {OPENS, 2, 1},
    [__NR_openat2] = {OPENS, 2, 1},
    [__NR_stat] = {LOOKS, 1, 0},
    [__NR_lstat] = {LOOKS, 1, 0},
    [__NR_newfstatat] = {LOOKS, 2, 1},
    [__NR_statx] = {LOOKS, 2, 1},
    [__NR_access] = {LOOKS, 1, 0},
    [__NR_faccessat] = {LOOKS, 2, 1},
    [__NR_faccessat2] = {LOOKS, 2, 1},
    [__NR_readlink] = {LOOKS, 1, 0},
    [__NR_readlinkat] = {LOOKS, 2, 1},
    [__NR_chdir] = {LOOKS, 1, 0},
    [__NR_getdents] = {LISTS, 1, 0},
    [__NR_getdents64] = {LISTS, 1, 0},
    [__NR_mkdir] = {CHANGES, 1, 0},
    [__NR_mkdirat] = {CHANGES, 2, 1},
    [__NR_mknod] = {CHANGES, 1, 0},
    [__NR_mknodat] = {CHANGES, 2, 1},
    [__NR_rename] = {CHANGES, 2, 0},
    [__NR_renameat] = {CHANGES, 4, 3},
    [__NR_renameat2] = {CHANGES, 4, 3},
    [__NR_link] = {CHANGES, 2, 0},
    [__NR_linkat] = {CHANGES, 4, 3},
    [__NR_symlink] = {CHANGES, 2, 0},
    [__NR_symlinkat] = {CHANGES, 3, 2},
    [__NR_chmod] = {CHANGES, 1, 0},
    [__NR_fchmodat] = {CHANGES, 2, 1},
    [__NR_chown] = {CHANGES, 1, 0},
    [__NR_lchown] = {CHANGES, 1, 0},
    [__NR_fchownat] = {CHANGES, 2, 1},
    [__NR_utime] = {CHANGES, 1, 0},
    [__NR_utimes] = {CHANGES, 1, 0},
    [__NR_utimensat] = {CHANGES, 2, 1},
    [__NR_fchmodat2] = {CHANGES, 2, 1},
    [__NR_setxattr] = {CHANGES, 1, 0},
    [__NR_lsetxattr] = {CHANGES, 1, 0},
    [__NR_removexattr] = {CHANGES, 1, 0},
    [__NR_lremovexattr] = {CHANGES, 1, 0},
    [__NR_truncate] = {CHANGES, 1, 0},
    [__NR_rmdir] = {CHANGES_FOLDER, 1, 0},
    [__NR_unlink] = {CHANGES_FOLDER, 1, 0},
    [__NR_unlinkat] = {CHANGES_FOLDER, 2, 1},
    [__NR_ftruncate] = {CHANGES_FILE, 1, 0},
    [__NR_fallocate] = {CHANGES_FILE, 1, 0},
    [__NR_fchmod] = {CHANGES_FILE, 1, 0},
    [__NR_fchown] = {CHANGES_FILE, 1, 0},
    [__NR_fsetxattr] = {CHANGES_FILE, 1, 0},
    [__NR_fremovexattr] = {CHANGES_FILE, 1, 0},
    [__NR_close] = {CLOSES, 1, 0},
    [__NR_dup2] = {CLOSES, 2, 0},
    [__NR_dup3] = {CLOSES, 2, 0},
};

static const struct row *row_of(long number)
{
    return number >= 0 && number < ROWS_MAX ? &rows[number] : &rows[0];
}

bool stored_name_concerns(long number)
{
    return row_of(number)->doing != NOTHING;
}

/* Return the mount of a path, for a file of any kind; for an empty path, the mount of a descriptor. NULL if the file is
 * on no storage. */
static const struct stored_mount *mount_of(const struct call *call, long folder, const char *path, long flags,
                                           struct statx *status)
{
    if (NATIVE(statx, folder, path, flags | AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, status) != 0)
        return NULL;
    return stored_mount_numbered(call->thread->process, status->stx_mnt_id);
}

/* Return the mount of the folder that contains the last part of a path. */
static const struct stored_mount *mount_of_folder(const struct call *call, long folder, const char *path, struct statx *status)
{
    char *text = (char *)call->thread->buffer; /* no message is under way here */
    size_t length = 0;

    while (length < sizeof call->thread->buffer - 1 && path[length] != '\0') {
        text[length] = path[length];
        length++;
    }
    while (length > 0 && text[length - 1] == '/')
        length--;
    while (length > 0 && text[length - 1] != '/')
        length--;
    text[length] = '\0';
    return mount_of(call, folder, length > 0 ? text : ".", 0, status);
}

static long folder_of(const struct call *call, const struct row *row)
{
    return row->folder == 0 ? AT_FDCWD : call->a[row->folder - 1];
}

static bool opens_to_write(const struct call *call)
{
    long flags = call->number == __NR_open ? call->a[1] : call->number == __NR_openat ? call->a[2] : O_WRONLY;

    if (call->number == __NR_openat2)
        flags = is_bad_pointer((void *)call->a[2]) ? 0 : *(long *)call->a[2];
    return (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != 0;
}

/* Before a call: return -EROFS if its storage is read-only now. Before close(2), bring the dirty pages of the
 * descriptor's file to the file server. */
__attribute__((cold)) long stored_name_admit(struct call *call)
{
    const struct row *row = row_of(call->number);
    const struct process *process = call->thread->process;
    const struct stored_mount *mount;
    struct statx status;
    long argument = call->a[row->argument - 1];

    if (row->doing == CLOSES && (process->storage.flags & STORED_REMOTE) != 0) {
        mount = mount_of(call, argument, "", 0, &status);
        if (mount != NULL && (mount->flags & STORED_REMOTE) != 0 && (mount->flags & STORED_CACHED) != 0)
            call->error = (int)storage_tell(call, mount, STORAGE_SYNC, &status, 0, 0);
    }
    if (process->page->storage_conditions == 0 || row->doing == CLOSES || row->doing == LOOKS || row->doing == LISTS ||
        (row->doing == OPENS && !opens_to_write(call)))
        return 0;
    if (row->doing == CHANGES_FILE)
        mount = mount_of(call, argument, "", 0, &status);
    else if (is_bad_pointer((void *)argument))
        return 0;
    else if ((mount = mount_of(call, folder_of(call, row), (const char *)argument, 0, &status)) == NULL)
        mount = mount_of_folder(call, folder_of(call, row), (const char *)argument, &status);
    argument = mount == NULL ? 0 : storage_room(call, mount, 0);
    return argument < 0 ? argument : 0;
}

/* After a call that the kernel has carried out: let its time pass; return 0 or -errno. */
__attribute__((cold)) long stored_name_pass(struct call *call, long result)
{
    const struct row *row = row_of(call->number);
    const struct stored_mount *mount = NULL;
    struct statx status;
    bool is_look = row->doing == LOOKS || row->doing == OPENS || row->doing == LISTS;
    long argument = call->a[row->argument - 1];
    const char *path = (const char *)argument;
    long error;

    if (row->doing == OPENS)
        mount = mount_of(call, result, "", 0, &status);
    else if (row->doing == LISTS || row->doing == CHANGES_FILE)
        mount = mount_of(call, argument, "", 0, &status);
    else if (row->doing == CLOSES || is_bad_pointer(path) || path[0] == '\0') /* fstat(2) needs no storage */
        return 0;
    else if (row->doing == CHANGES_FOLDER)
        mount = mount_of_folder(call, folder_of(call, row), path, &status);
    else
        mount = mount_of(call, folder_of(call, row), path, row->doing == CHANGES ? NOFOLLOW : 0, &status);
    if (mount == NULL)
        return 0;
    error = storage_tell(
        call, mount, is_look ? STORAGE_LOOK : STORAGE_CHANGE, &status,
        (row->doing == OPENS ? STORAGE_OPENED : 0) | ((mount->flags & STORED_CACHED) != 0 ? 0 : STORAGE_UNCACHED), 0);
    if (error != 0 && row->doing == OPENS)
        NATIVE(close, result);
    return error;
}
