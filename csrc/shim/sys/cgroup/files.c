/* Control files of cgroups. The server writes the present text into the real file when a program opens the file, or
 * goes back to its beginning. A program's write goes to the server, and takes effect before the call returns. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/pids/pids.h"
#include "shim/sys/cgroup/cgroup.h"

#define F_GETFL 3
#define STATISTICS_LAG_NS 100000
#define AS_LONG_AS_IT_IS_THERE UINT64_MAX
#define UNTIL_A_MESSAGE (UINT64_MAX - 1)
#define HERE 1 /* SEEK_CUR of lseek(2) */

/* The beginnings of the names of control files, by which they are recognised before the kernel is asked. */
static const char *const beginnings[] = {"cgroup.", "memory.", "cpu.", "cpuset.", "pids.", "io."};

/* The files whose text the server writes anew whenever it changes: ControlFile.is_kept of rsg_server/cgroups. */
static const char *const kept[] = {"cgroup.controllers",  "cpuset.cpus.effective", "cpuset.mems.effective",
                                   "memory.swap.current", "memory.swap.events",    "memory.swap.peak"};

static const char *last_part(const char *path)
{
    const char *name = path;

    for (; *path != '\0'; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

bool cgroup_file_may_be(const char *path)
{
    const char *name = last_part(path);

    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (text_starts(name, beginnings[i]))
            return true;
    return false;
}

/* Return whether a real file always has its present text, unless it is empty. */
__attribute__((cold)) static bool is_kept(const char *name)
{
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (text_equal(name, kept[i]))
            return true;
    return false;
}

/* For how long the text of a file that is not kept is valid while no message is sent and no other thread has the turn.
 * Values that depend on the groups, their settings and their processes change only by messages. CPU times and
 * statistics of memory may be out of date, as Linux's are, which are updated at ticks of the clock and every two
 * seconds. */
__attribute__((cold)) static uint64_t lasts_ns(const char *path)
{
    const char *name = last_part(path);

    if (is_kept(name))
        return AS_LONG_AS_IT_IS_THERE;
    if (text_equal(name, "cgroup.events")) /* poll(2) reports changes that were not read, so the server must know of
                                            * this read */
        return 0;
    if (text_starts(name, "cgroup.") || text_starts(name, "cpuset.") || text_starts(name, "memory.swap."))
        return UNTIL_A_MESSAGE;
    return text_equal(name, "cpu.stat") || text_equal(name, "memory.stat") ? STATISTICS_LAG_NS : 0;
}

static uint64_t messages_and_turns(const struct process *process)
{
    return process->page->messages + process->page->handoffs;
}

/* Return whether the text in the file that was opened last is still up to date. If the file was removed, the server is
 * asked, and refuses. */
__attribute__((cold)) static bool holds(const struct process *process, const struct stat *status)
{
    if (process->cgroups.text_lasts_ns == AS_LONG_AS_IT_IS_THERE)
        return status->st_nlink != 0;
    return process->cgroups.text_at == messages_and_turns(process) &&
           process->page->now_ns - process->cgroups.text_ns < process->cgroups.text_lasts_ns;
}

/* Have the server write the present text into a file, unless the file is up to date. */
__attribute__((cold)) static long bring_text(struct thread *thread, const struct stat *status, int how)
{
    struct process *process = thread->process;
    struct reply reply;
    long result;

    if (status->st_ino == process->cgroups.text && how != CGROUP_READ_EMPTIED && status->st_size != 0 && holds(process, status))
        return 0;
    result = (long)ASK(thread, &reply, OP_CGROUP_READ, (int64_t)status->st_ino, how);
    if (status->st_ino == process->cgroups.text) {
        process->cgroups.text_at = result == 0 ? messages_and_turns(process) : 0;
        process->cgroups.text_ns = process->page->now_ns;
    }
    return result;
}

/* Return whether a descriptor belongs to a file with this name. */
__attribute__((cold)) bool cgroup_file_is(long fd, const char *name)
{
    char path[256];

    return proc_name_of(fd, path, sizeof path) && text_equal(last_part(path), name);
}

/* After open(2) of `path` has returned `fd`: return the descriptor that the application gets, or an error. */
__attribute__((cold)) long cgroup_file_opened(struct call *call, const char *path, uint64_t flags, long fd)
{
    struct thread *thread = call->thread;
    struct stat status;
    long result = 0;

    if (fd < 0 || thread->process->cgroups.device == 0 || (flags & (O_PATH | O_DIRECTORY)) != 0 || is_bad_pointer(path) ||
        !cgroup_file_may_be(path) || NATIVE(fstat, fd, &status) != 0 || !is_control_file(thread, &status))
        return fd;
    thread->process->cgroups.are_used = true;
    if ((flags & O_ACCMODE) != O_WRONLY || (flags & O_TRUNC) != 0) {
        if (thread->process->cgroups.text != status.st_ino)
            thread->process->cgroups.text_at = 0;
        thread->process->cgroups.text = status.st_ino;
        thread->process->cgroups.text_lasts_ns = lasts_ns(path);
        result = bring_text(thread, &status, (flags & O_TRUNC) != 0 ? CGROUP_READ_EMPTIED : CGROUP_READ_SOON);
    }
    if (result == 0)
        return fd;
    NATIVE(close, fd);
    return result;
}

/* Translate the number that a process in a PID namespace writes to cgroup.procs or cgroup.threads into the host's
 * number, which the server knows. Returns the length of the new text. */
static size_t tell_number(struct call *call, char *text, size_t size)
{
    long number = 0;
    size_t at = 0;

    if (!cgroup_file_is(call->a[0], "cgroup.procs") && !cgroup_file_is(call->a[0], "cgroup.threads"))
        return size;
    while (at < size && at < 10 && text[at] >= '0' && text[at] <= '9')
        number = 10 * number + text[at++] - '0';
    if (at == 0 || number == 0)
        return size;
    return (size_t)(text_append_number(text, text + SIMUNIX_CGROUP_TEXT_MAX, pid_told(call->thread->process, number)) - text);
}

static bool is_own_number(const struct process *process, const char *text, size_t size)
{
    long number = 0;
    size_t at = 0;

    while (at < size && at < 10 && text[at] >= '0' && text[at] <= '9')
        number = 10 * number + text[at++] - '0';
    return at != 0 && (at == size || text[at] == '\n' || text[at] == '\0') && (number == 0 || number == process->ids.pid);
}

/* Return whether a process that writes its own number writes it to the cgroup.procs of the group that it is in. This is
 * so if the process has written its number before, and since then no process has moved to another group and no group
 * has changed the controllers for its children: the write would change nothing, and would not be refused. Only for
 * root, since the permission of other users depends on more. */
__attribute__((cold)) static bool is_at_home(const struct process *process, const struct stat *status)
{
    return status->st_ino == process->cgroups.home && process->cgroups.home_at == process->page->cgroup_moves &&
           status->st_nlink != 0 && NATIVE(geteuid) == 0;
}

/* Handle a write to the file that `status` describes. Returns how many bytes were taken, or an error; -ENOSYS if it is
 * no control file. */
__attribute__((cold)) long cgroup_file_written(struct call *call, const struct stat *status, const char *bytes, size_t size)
{
    struct process *process = call->thread->process;
    char text[SIMUNIX_CGROUP_TEXT_MAX];
    struct msgpack_writer writer;
    struct reply reply;
    size_t size_told = size;
    int64_t result;
    bool is_own;

    if (!is_control_file(call->thread, status))
        return -ENOSYS;
    if ((NATIVE(fcntl, call->a[0], F_GETFL, 0) & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    if (size > sizeof text)
        return -E2BIG;
    memcpy(text, bytes, size);
    is_own = is_own_number(process, text, size);
    if ((is_own && is_at_home(process, status)) || (status->st_nlink != 0 && cgroup_is_passed_on(call->a[0], text, size)))
        return (long)size;
    if (pids_are_nested(process))
        size_told = tell_number(call, text, size);
    request_start(call->thread, &writer, OP_CGROUP_WRITE);
    msgpack_put_int(&writer, (int64_t)status->st_ino);
    msgpack_put_bytes(&writer, text, size_told);
    msgpack_put_int(&writer, NATIVE(geteuid));
    result = request_call(call->thread, &writer, &reply);
    if (result == 0 && reply_number(&reply, 1) != 0 && !cgroup_counts_memory(process))
        cgroup_memory_begins(process);
    if (result == 0 && is_own && cgroup_file_is(call->a[0], "cgroup.procs")) {
        process->cgroups.home = status->st_ino;
        process->cgroups.home_at = process->page->cgroup_moves;
    }
    return result < 0 ? result : (long)size;
}

/* Have the server write the text anew for a reader that goes back to the beginning. Returns 0, or -ENODEV if the group
 * was removed. */
__attribute__((cold)) long cgroup_file_refresh(struct call *call, long fd, int how)
{
    struct stat status;

    if (NATIVE(fstat, fd, &status) != 0 || !is_control_file(call->thread, &status))
        return 0;
    return bring_text(call->thread, &status, how);
}

__attribute__((cold)) long cgroup_file_sought(struct call *call, long fd)
{
    return cgroup_file_refresh(call, fd, NATIVE(lseek, fd, 0, HERE) > 0 ? CGROUP_READ_AGAIN : CGROUP_READ_SOON);
}

/* poll(2): files such as cgroup.events have urgent news (POLLPRI) if their text has changed since it was read; the real
 * files in the kernel report none. Returns how many entries more are ready. The server ends the caller's wait for
 * descriptors when one of these files changes. */
__attribute__((cold)) long cgroup_poll(struct call *call, struct pollfd *fds, unsigned count)
{
    struct stat status;
    struct reply reply;
    long more = 0;

    for (unsigned i = 0; i < count; i++) {
        if ((fds[i].events & POLLPRI) == 0 || fds[i].fd < 0 || NATIVE(fstat, fds[i].fd, &status) != 0 ||
            !is_control_file(call->thread, &status) ||
            ASK(call->thread, &reply, OP_CGROUP_NEWS, (int64_t)status.st_ino, NATIVE(lseek, fds[i].fd, 0, HERE) == 0) != 1)
            continue;
        more += fds[i].revents == 0;
        fds[i].revents |= POLLPRI | POLLERR;
    }
    return more;
}
