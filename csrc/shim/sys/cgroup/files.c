/* Control files of cgroups. The server writes what such a file has to say into the real file when somebody opens it, or goes back to
 * its beginning; what is written goes to the server, and takes effect before the call returns. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/pids/pids.h"
#include "shim/sys/cgroup/cgroup.h"

#define F_GETFL 3

/* How names of control files begin: told before anything is asked of the kernel. */
static const char *const beginnings[] = {"cgroup.", "memory.", "cpu.", "cpuset.", "pids.", "io."};

__attribute__((cold)) static bool may_be(const char *path)
{
    const char *name = path;

    for (; *path != '\0'; path++)
        if (*path == '/')
            name = path + 1;
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (text_starts(name, beginnings[i]))
            return true;
    return false;
}

/* `fd` is what opening `path` has given; the descriptor that the application gets, or an error. */
__attribute__((cold)) long cgroup_file_opened(struct call *call, const char *path, uint64_t flags, long fd)
{
    struct thread *thread = call->thread;
    struct stat status;
    struct reply reply;
    long result = 0;

    if (fd < 0 || thread->process->cgroup_device == 0 || (flags & (O_PATH | O_DIRECTORY)) != 0 || is_bad_pointer(path) ||
        !may_be(path) || NATIVE(fstat, fd, &status) != 0 || !is_control_file(thread, &status))
        return fd;
    thread->process->uses_cgroups = true;
    if ((flags & O_ACCMODE) != O_WRONLY || (flags & O_TRUNC) != 0)
        result = ASK(thread, &reply, OP_CGROUP_READ, (int64_t)status.st_ino, (flags & O_TRUNC) != 0);
    if (result == 0)
        return fd;
    NATIVE(close, fd);
    return result;
}

/* What is written to cgroup.procs or cgroup.threads in a PID namespace: the server knows the host's numbers. Returns how long the text is
 * then. */
static size_t tell_number(struct call *call, char *text, size_t size)
{
    char name[256];
    const char *last = name;
    long number = 0;
    size_t at = 0;

    if (!proc_name_of(call->a[0], name, sizeof name))
        return size;
    for (const char *part = name; *part != '\0'; part++)
        if (*part == '/')
            last = part + 1;
    if (!text_equal(last, "cgroup.procs") && !text_equal(last, "cgroup.threads"))
        return size;
    while (at < size && at < 10 && text[at] >= '0' && text[at] <= '9')
        number = 10 * number + text[at++] - '0';
    if (at == 0 || number == 0)
        return size;
    return (size_t)(text_append_number(text, text + SIMUNIX_CGROUP_TEXT_MAX, pid_told(call->thread->process, number)) - text);
}

/* A write to the file that `status` describes: how many bytes were taken, or an error; -ENOSYS if it is no control file. */
__attribute__((cold)) long cgroup_file_written(struct call *call, const struct stat *status, const char *bytes, size_t size)
{
    char text[SIMUNIX_CGROUP_TEXT_MAX];
    struct msgpack_writer writer;
    struct reply reply;
    size_t size_told = size;
    int64_t result;

    if (!is_control_file(call->thread, status))
        return -ENOSYS;
    if ((NATIVE(fcntl, call->a[0], F_GETFL, 0) & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    if (size > sizeof text)
        return -E2BIG;
    memcpy(text, bytes, size);
    if (pids_are_nested(call->thread->process))
        size_told = tell_number(call, text, size);
    request_start(call->thread, &writer, OP_CGROUP_WRITE, 3);
    msgpack_put_int(&writer, (int64_t)status->st_ino);
    msgpack_put_bytes(&writer, text, size_told);
    msgpack_put_int(&writer, NATIVE(geteuid));
    result = request_call(call->thread, &writer, &reply);
    if (result == 0 && reply_number(&reply, 1) != 0 && !cgroup_counts_memory(call->thread->process))
        cgroup_memory_begins(call->thread->process);
    return result < 0 ? result : (long)size;
}

/* A reader goes back to the beginning, where it finds the text of this moment: 0, or -ENODEV if the group is gone. */
__attribute__((cold)) long cgroup_file_refresh(struct call *call, long fd)
{
    struct stat status;
    struct reply reply;

    if (NATIVE(fstat, fd, &status) != 0 || !is_control_file(call->thread, &status))
        return 0;
    return (long)ASK(call->thread, &reply, OP_CGROUP_READ, (int64_t)status.st_ino, 0);
}
