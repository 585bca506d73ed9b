/* The folders of the host's cgroups. The kernel makes them; the server fills and removes them. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"

#define NAME_BYTES_MAX 255

/* Tell the server that a folder has been made at `path`, in the folder `above`. Returns 0, or the errno of the reason
 * why there can be no such group; in that case the folder was removed. */
__attribute__((cold)) long cgroup_made(struct thread *thread, const struct stat *above, const struct stat *folder,
                                       const char *path)
{
    char name[NAME_BYTES_MAX + 1];
    size_t end = text_length(path);
    size_t start;
    struct msgpack_writer writer;
    struct reply reply;

    while (end > 0 && path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && path[start - 1] != '/';)
        start--;
    if (end - start > NAME_BYTES_MAX)
        return -ENAMETOOLONG;
    memcpy(name, path + start, end - start);
    thread->process->cgroups.are_used = true;
    request_start(thread, &writer, OP_CGROUP_MADE);
    msgpack_put_int(&writer, (int64_t)above->st_ino);
    msgpack_put_int(&writer, (int64_t)folder->st_ino);
    msgpack_put_bytes(&writer, name, end - start);
    return (long)request_call(thread, &writer, &reply);
}

/* Have the server remove a folder. The kernel has checked that the caller may: it would have removed an empty folder. */
__attribute__((cold)) long cgroup_remove(struct thread *thread, const struct stat *folder)
{
    struct reply reply;

    return (long)ASK(thread, &reply, OP_CGROUP_REMOVE, (int64_t)folder->st_ino);
}

/* Let the next child be born in the cgroup that a descriptor has open. */
__attribute__((cold)) long cgroup_for_child(struct thread *thread, long fd)
{
    struct stat status;
    struct reply reply;

    if (NATIVE(fstat, fd, &status) != 0 || !is_in_cgroups(thread, &status) || (status.st_mode & S_IFMT) != S_IFDIR)
        return -EBADF;
    return (long)ASK(thread, &reply, OP_CGROUP_INTO, (int64_t)status.st_ino);
}
