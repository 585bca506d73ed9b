/* Control files that do not exist yet. A group has some forty control files, of which programs use few: the server
 * makes a file when a call does not find its name, and all files of a folder when the folder is listed or watched. Then
 * the call is repeated. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"
#include "tables/newer_syscalls.h"

#define CALLS_MAX 512
#define FOLDER_PATH_MAX 1024
#define NAME_BYTES_MAX 64

/* Calls that find a file by its name. Which argument is the path, counted from 1, and which the folder, 0: the working
 * directory. */
struct way {
    uint8_t path, folder;
};

static const struct way ways[CALLS_MAX] = {
    [__NR_open] = {1, 0},
    [__NR_stat] = {1, 0},
    [__NR_lstat] = {1, 0},
    [__NR_access] = {1, 0},
    [__NR_truncate] = {1, 0},
    [__NR_rename] = {1, 0},
    [__NR_link] = {1, 0},
    [__NR_unlink] = {1, 0},
    [__NR_chmod] = {1, 0},
    [__NR_chown] = {1, 0},
    [__NR_lchown] = {1, 0},
    [__NR_utime] = {1, 0},
    [__NR_utimes] = {1, 0},
    [__NR_mount] = {1, 0},
    [__NR_setxattr] = {1, 0},
    [__NR_lsetxattr] = {1, 0},
    [__NR_getxattr] = {1, 0},
    [__NR_lgetxattr] = {1, 0},
    [__NR_listxattr] = {1, 0},
    [__NR_llistxattr] = {1, 0},
    [__NR_inotify_add_watch] = {2, 0},
    [__NR_openat] = {2, 1},
    [__NR_openat2] = {2, 1},
    [__NR_open_tree] = {2, 1},
    [__NR_newfstatat] = {2, 1},
    [__NR_statx] = {2, 1},
    [__NR_faccessat] = {2, 1},
    [__NR_faccessat2] = {2, 1},
    [__NR_fchmodat] = {2, 1},
    [__NR_fchmodat2] = {2, 1},
    [__NR_fchownat] = {2, 1},
    [__NR_futimesat] = {2, 1},
    [__NR_utimensat] = {2, 1},
    [__NR_unlinkat] = {2, 1},
    [__NR_renameat] = {2, 1},
    [__NR_renameat2] = {2, 1},
    [__NR_linkat] = {2, 1},
    [__NR_name_to_handle_at] = {2, 1},
};

static const struct way *way_of(const struct call *call)
{
    return call->number >= 0 && call->number < CALLS_MAX && ways[call->number].path != 0 ? &ways[call->number] : NULL;
}

static const char *path_of(const struct call *call, const struct way *way)
{
    return (const char *)call->a[way->path - 1];
}

/* Return whether a call that has found no file has used a name that a control file may have. */
bool cgroup_file_is_asked_for(const struct call *call)
{
    const struct way *way = way_of(call);

    return way != NULL && !is_bad_pointer(path_of(call, way)) && cgroup_file_may_be(path_of(call, way));
}

static long appear(struct thread *thread, const struct stat *folder, const char *name)
{
    struct msgpack_writer writer;
    struct reply reply;

    request_start(thread, &writer, OP_CGROUP_APPEAR);
    msgpack_put_int(&writer, (int64_t)folder->st_ino);
    msgpack_put_bytes(&writer, name, text_length(name));
    return (long)request_call(thread, &writer, &reply);
}

/* Have the server make the control file at a path. Returns whether the file exists now. */
__attribute__((cold)) bool cgroup_file_appears(struct thread *thread, long folder, const char *path)
{
    char above[FOLDER_PATH_MAX], name[NAME_BYTES_MAX];
    size_t size = text_length(path), start = size;
    struct stat status;

    while (start > 0 && path[start - 1] != '/')
        start--;
    if (start >= sizeof above || size - start >= sizeof name)
        return false;
    memcpy(above, path, start);
    above[start] = '\0';
    memcpy(name, path + start, size - start + 1);
    return NATIVE(newfstatat, folder, above, &status, AT_EMPTY_PATH) == 0 && is_in_cgroups(thread, &status) &&
           (status.st_mode & S_IFMT) == S_IFDIR && appear(thread, &status, name) == 0;
}

/* Return whether the file that a call has not found exists now, so that the call must be made once more. */
__attribute__((cold)) long cgroup_file_comes(struct call *call)
{
    const struct way *way = way_of(call);

    return cgroup_file_appears(call->thread, way->folder == 0 ? AT_FDCWD : call->a[way->folder - 1], path_of(call, way));
}

/* Have the server make all control files of a folder that a program is about to list, or to watch. */
void cgroup_folder_is_looked_at(struct thread *thread, const struct stat *folder)
{
    if (is_in_cgroups(thread, folder) && (folder->st_mode & S_IFMT) == S_IFDIR)
        appear(thread, folder, "");
}

long sys_inotify_add_watch(struct call *call)
{
    struct stat status;

    if (!is_bad_pointer((void *)call->a[1]) && NATIVE(newfstatat, AT_FDCWD, (const char *)call->a[1], &status, 0) == 0)
        cgroup_folder_is_looked_at(call->thread, &status);
    return call_natively(call);
}
