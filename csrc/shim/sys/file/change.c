/* Calls that change files or folders: the kernel makes the change, and the shim records the virtual time. A table has a
 * row for each call, which says which arguments name the file. */
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/file/file.h"
#include "shim/sys/procfs/procfs.h"
#include "tables/newer_syscalls.h"

#define ROWS_MAX 512
#define HERE (-1) /* no argument names the folder: the path starts from the working directory */
#define NONE (-1)
#define EXCHANGE 2 /* RENAME_EXCHANGE */

struct row {
    int8_t folder, path; /* the places of the arguments; for a call on a descriptor, `path` is the place of the descriptor */
    int8_t flags;        /* the place of the argument, or NONE; if it is not NONE, the next members are used */
    int8_t change;       /* enum file_change */
    bool follows;        /* symbolic links */
    bool counts;         /* the result is a size: the call has changed nothing if it is 0 */
};

static const struct row rows[ROWS_MAX] = {
    /* on a descriptor */
    [__NR_pwrite64] = {NONE, 0, NONE, FILE_WRITTEN, .counts = true},
    [__NR_pwritev] = {NONE, 0, NONE, FILE_WRITTEN, .counts = true},
    [__NR_copy_file_range] = {NONE, 2, NONE, FILE_WRITTEN, .counts = true},
    [__NR_ftruncate] = {NONE, 0, NONE, FILE_WRITTEN, .counts = false},
    [__NR_fallocate] = {NONE, 0, NONE, FILE_WRITTEN, .counts = false},
    [__NR_fchmod] = {NONE, 0, NONE, FILE_CHANGED, .counts = false},
    [__NR_fchown] = {NONE, 0, NONE, FILE_CHANGED, .counts = false},
    [__NR_fsetxattr] = {NONE, 0, NONE, FILE_CHANGED, .counts = false},
    [__NR_fremovexattr] = {NONE, 0, NONE, FILE_CHANGED, .counts = false},
    /* on a path */
    [__NR_truncate] = {HERE, 0, NONE, FILE_WRITTEN, .follows = true},
    [__NR_chmod] = {HERE, 0, NONE, FILE_CHANGED, .follows = true},
    [__NR_chown] = {HERE, 0, NONE, FILE_CHANGED, .follows = true},
    [__NR_lchown] = {HERE, 0, NONE, FILE_CHANGED, .follows = false},
    [__NR_setxattr] = {HERE, 0, NONE, FILE_CHANGED, .follows = true},
    [__NR_lsetxattr] = {HERE, 0, NONE, FILE_CHANGED, .follows = false},
    [__NR_removexattr] = {HERE, 0, NONE, FILE_CHANGED, .follows = true},
    [__NR_lremovexattr] = {HERE, 0, NONE, FILE_CHANGED, .follows = false},
    [__NR_fchmodat] = {0, 1, NONE, FILE_CHANGED, .follows = true},
    [__NR_fchmodat2] = {0, 1, 3, FILE_CHANGED, .follows = true},
    [__NR_fchownat] = {0, 1, 4, FILE_CHANGED, .follows = true},
    [__NR_setxattrat] = {0, 1, 2, FILE_CHANGED, .follows = true},
    [__NR_removexattrat] = {0, 1, 2, FILE_CHANGED, .follows = true},
    /* a new name */
    [__NR_mkdir] = {HERE, 0, NONE, FILE_NEW, .follows = false},
    [__NR_mkdirat] = {0, 1, NONE, FILE_NEW, .follows = false},
    [__NR_mknod] = {HERE, 0, NONE, FILE_NEW, .follows = false},
    [__NR_mknodat] = {0, 1, NONE, FILE_NEW, .follows = false},
    [__NR_symlink] = {HERE, 1, NONE, FILE_NEW, .follows = false},
    [__NR_symlinkat] = {1, 2, NONE, FILE_NEW, .follows = false},
    [__NR_link] = {HERE, 1, NONE, FILE_CHANGED, .follows = false},
    [__NR_linkat] = {2, 3, NONE, FILE_CHANGED, .follows = false},
    /* a name less */
    [__NR_unlink] = {HERE, 0, NONE, FILE_CHANGED, .follows = false},
    [__NR_unlinkat] = {0, 1, NONE, FILE_CHANGED, .follows = false},
    [__NR_rmdir] = {HERE, 0, NONE, FILE_CHANGED, .follows = false},
};

/* Find a file by the name in a call, or a folder, before the name is removed (or before it is made). */
struct name {
    long folder;
    const char *path;
    long flags;
};

static struct name name_of(const struct call *call, const struct row *row)
{
    long given = row->flags == NONE ? 0 : call->a[row->flags];

    return (struct name){
        .folder = row->folder == HERE ? AT_FDCWD : call->a[row->folder],
        .path = (const char *)call->a[row->path],
        .flags = (given & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) | (row->follows ? 0 : AT_SYMLINK_NOFOLLOW),
    };
}

static bool look(const struct name *name, struct stat *status)
{
    return NATIVE(newfstatat, name->folder, name->path, status, name->flags) == 0;
}

/* Copy the first bytes of a path as a path of its own. */
static bool look_at_part(struct thread *thread, long folder, const char *path, size_t length, struct stat *status)
{
    char *text = (char *)thread->buffer; /* no message is under way here */

    memcpy(text, path, length);
    text[length] = '\0';
    return NATIVE(newfstatat, folder, length > 0 ? text : ".", status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Paths in addresses need not end with a zero byte. */
static size_t path_length(const struct thread *thread, const char *path, size_t limit)
{
    size_t length = 0;

    while (length < limit && length < sizeof thread->buffer - 1 && path[length] != '\0')
        length++;
    return length;
}

/* Find the folder that contains the last part of a path; a slash at the end follows links. */
static bool look_at_folder(struct thread *thread, long folder, const char *path, size_t limit, struct stat *status)
{
    size_t length;

    if (is_bad_pointer(path))
        return false;
    length = path_length(thread, path, limit);
    while (length > 0 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    return look_at_part(thread, folder, path, length, status);
}

#define WHOLE_PATH ((size_t)-1)

/* Record a write to the file that `before` describes. */
long file_written(struct call *call, const struct stat *before, long result)
{
    if (result > 0)
        file_note(call->thread, before, FILE_WRITTEN);
    return result;
}

/* write(2) and similar calls record the time themselves, see sys/io. */
long sys_change_descriptor(struct call *call)
{
    const struct row *row = &rows[call->number];
    struct stat status;
    bool found;
    long result;

    if (descriptor_is_ours(call, call->a[row->path]))
        return -EBADF;
    found = NATIVE(fstat, call->a[row->path], &status) == 0;
    if (found && (result = device_changed(call, row->path, &status)) != -ENOSYS)
        return result;
    if (found && status.st_nlink == 0 && call->number == __NR_pwrite64 &&
        (result = power_file_written(call, &status, (const char *)call->a[1], (size_t)call->a[2])) != -ENOSYS)
        return result;
    if (found && call->number == __NR_pwrite64 && is_in_cgroups(call->thread, &status))
        return cgroup_file_written(call, &status, (const char *)call->a[1], (size_t)call->a[2]);
    result = call_natively(call);
    if (found && (result > 0 || (result == 0 && !row->counts)))
        file_note(call->thread, &status, (enum file_change)row->change);
    if (found && result == 0 && call->number == __NR_ftruncate)
        stored_file_cut(call->thread, &status, (uint64_t)call->a[1]);
    return result;
}

long sys_change_path(struct call *call)
{
    const struct row *row = &rows[call->number];
    struct name name = name_of(call, row);
    struct stat status;
    bool found = look(&name, &status);
    long result = found ? device_changed(call, row->path, &status) : -ENOSYS;

    if (result != -ENOSYS)
        return result;
    result = call_natively(call);
    if (found && result == 0)
        file_note(call->thread, &status, (enum file_change)row->change);
    if (found && result == 0 && call->number == __NR_truncate)
        stored_file_cut(call->thread, &status, (uint64_t)call->a[1]);
    return result;
}

/* After mkdir, link, …: the folder was changed, and the file is new, or has one more name. */
long sys_add_name(struct call *call)
{
    const struct row *row = &rows[call->number];
    struct name name = name_of(call, row);
    struct stat status, folder;
    bool found = look_at_folder(call->thread, name.folder, name.path, WHOLE_PATH, &folder);
    bool makes_group = found && is_in_cgroups(call->thread, &folder);
    long result;

    if (makes_group && call->number != __NR_mkdir && call->number != __NR_mkdirat)
        return -EPERM;
    result = call_natively(call);
    if (result != 0)
        return result;
    if (found)
        file_note(call->thread, &folder, FILE_WRITTEN);
    if (look(&name, &status)) {
        file_note(call->thread, &status, (enum file_change)row->change);
        if (makes_group)
            result = cgroup_made(call->thread, &folder, &status, name.path);
    }
    return result;
}

/* After the removal of a name: if it was the last name, forget the file; else set the file's time of change. */
static void name_removed(struct thread *thread, const struct stat *status)
{
    if (status->st_nlink == 1)
        stored_file_cut(thread, status, 0);
    if (status->st_nlink == 1 || (status->st_mode & S_IFMT) == S_IFDIR)
        file_gone(thread, status);
    else
        file_note(thread, status, FILE_CHANGED);
}

long sys_remove_name(struct call *call)
{
    struct name name = name_of(call, &rows[call->number]);
    struct stat status, folder;
    bool found = look_at_folder(call->thread, name.folder, name.path, WHOLE_PATH, &folder) && look(&name, &status);
    long result;

    if (found && is_control_file(call->thread, &status))
        return -EPERM;
    result = call_natively(call);
    if (result == -ENOTEMPTY && found && is_in_cgroups(call->thread, &status))
        result = cgroup_remove(call->thread, &status);
    if (!found || result != 0)
        return result;
    file_note(call->thread, &folder, FILE_WRITTEN);
    name_removed(call->thread, &status);
    return result;
}

static long rename_file(struct call *call, const struct name *from, const struct name *to, bool exchanges)
{
    struct thread *thread = call->thread;
    struct stat moved, replaced, folders[2];
    bool found = look_at_folder(thread, from->folder, from->path, WHOLE_PATH, &folders[0]) &&
                 look_at_folder(thread, to->folder, to->path, WHOLE_PATH, &folders[1]) && look(from, &moved);
    bool replaces = found && look(to, &replaced);
    long result;

    if (found && is_in_cgroups(thread, &moved) && is_in_cgroups(thread, &folders[1]))
        return -EPERM;
    result = call_natively(call);

    if (!found || result != 0)
        return result;
    if (replaces && replaced.st_ino == moved.st_ino && replaced.st_dev == moved.st_dev) /* two names of one file stay */
        return result;
    file_note(thread, &folders[0], FILE_WRITTEN);
    file_note(thread, &folders[1], FILE_WRITTEN);
    file_note(thread, &moved, FILE_CHANGED);
    if (replaces && exchanges)
        file_note(thread, &replaced, FILE_CHANGED);
    else if (replaces)
        name_removed(thread, &replaced);
    return result;
}

long sys_rename(struct call *call)
{
    struct name from = {AT_FDCWD, (const char *)call->a[0], AT_SYMLINK_NOFOLLOW};
    struct name to = {AT_FDCWD, (const char *)call->a[1], AT_SYMLINK_NOFOLLOW};

    return rename_file(call, &from, &to, false);
}

/* renameat and renameat2: only renameat2 has flags. */
long sys_renameat(struct call *call)
{
    struct name from = {call->a[0], (const char *)call->a[1], AT_SYMLINK_NOFOLLOW};
    struct name to = {call->a[2], (const char *)call->a[3], AT_SYMLINK_NOFOLLOW};

    return rename_file(call, &from, &to, call->number == __NR_renameat2 && (call->a[4] & EXCHANGE) != 0);
}

/* After bind(2) of an AF_UNIX socket: record the new name, if it is a name in the file system. */
long file_bind(struct call *call)
{
    const struct unix_address *address = (void *)call->a[1];
    long room = call->a[2] - (long)offsetof(struct unix_address, path);
    struct stat folder, status;
    bool found = room > 0 && (size_t)room <= sizeof address->path && !is_bad_pointer(address) && address->family == AF_UNIX &&
                 address->path[0] != '\0' && look_at_folder(call->thread, AT_FDCWD, address->path, (size_t)room, &folder);
    long result = call_natively(call);

    if (!found || result != 0)
        return result;
    file_note(call->thread, &folder, FILE_WRITTEN);
    if (look_at_part(call->thread, AT_FDCWD, address->path, path_length(call->thread, address->path, (size_t)room), &status))
        file_note(call->thread, &status, FILE_NEW);
    return result;
}

/* Before an open that may make or empty a file: find the present file, and the folder that would get a new name. */
void file_before_open(struct thread *thread, long folder, const char *path, long flags, struct file_opening *opening)
{
    bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE;

    opening->flags = flags;
    opening->existed = opening->has_folder = false;
    if ((flags & (O_CREAT | O_TRUNC)) == 0 || (flags & O_PATH) != 0 || is_nameless || is_bad_pointer(path))
        return;
    opening->existed = NATIVE(newfstatat, folder, path, &opening->file, 0) == 0;
    if (!opening->existed && (flags & O_CREAT) != 0)
        opening->has_folder = look_at_folder(thread, folder, path, WHOLE_PATH, &opening->folder);
}

/* `fd` is what the kernel gave. */
void file_after_open(struct thread *thread, const struct file_opening *opening, long fd)
{
    bool is_nameless = (opening->flags & O_TMPFILE) == O_TMPFILE;
    struct stat status;

    if (fd < 0)
        return;
    if (opening->existed && (opening->flags & O_TRUNC) != 0 && is_regular(&opening->file))
        file_note(thread, &opening->file, FILE_WRITTEN);
    if (opening->existed && (opening->flags & O_TRUNC) != 0)
        stored_file_cut(thread, &opening->file, 0);
    if (opening->has_folder)
        file_note(thread, &opening->folder, FILE_WRITTEN);
    if ((opening->has_folder || is_nameless) && NATIVE(fstat, fd, &status) == 0) {
        file_note(thread, &status, FILE_NEW);
        stored_file_cut(thread, &status, 0);
    }
}
