/* The numbers of a process itself, in its own PID namespace and in the host's, and the host's /proc by which they are
 * found. The shim keeps a descriptor of this /proc from the first call on after which the process might not see it any
 * more. */
#include "shim/core/memory.h"
#include "shim/pids/pids.h"

#define LINK_ROOM 64

/* Keep a descriptor of the /proc that the process sees now. Returns false if it sees none. */
bool proc_keep(struct process *process)
{
    long folder;

    if (process->ids.proc > 0)
        return true;
    descriptors_raise();
    folder = NATIVE(openat, AT_FDCWD, "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (folder >= 0)
        process->ids.proc = descriptor_number(process, descriptor_hide(process, (int)folder));
    descriptors_limit(process);
    return folder >= 0;
}

static bool link_of(const struct process *process, const char *path, char *text)
{
    long size = NATIVE(readlinkat, process->ids.proc > 0 ? process->ids.proc : AT_FDCWD, path, text, LINK_ROOM - 1);

    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

static int leading_number(const char *text)
{
    int number = 0;

    while (*text >= '0' && *text <= '9')
        number = 10 * number + *text++ - '0';
    return number;
}

/* Find the number of the calling thread, in its own PID namespace and as the server knows it. */
void pids_of_thread(struct thread *thread)
{
    char text[LINK_ROOM];

    thread->ids.tid = thread->ids.host_tid = (int)NATIVE(gettid);
    if (!pids_are_nested(thread->process))
        return;
    if (!link_of(thread->process, "thread-self", text)) /* PID/task/TID */
        fatal("a process in a PID namespace of its own has lost its host's /proc", NULL, thread->ids.tid);
    for (const char *at = text; *at != '\0'; at++)
        if (text_starts(at, "/task/"))
            thread->ids.host_tid = leading_number(at + 6);
}

/* Find the numbers of the calling process, which has just begun, and of its only thread. */
void pids_of_process(struct thread *thread, bool is_nested)
{
    struct process *process = thread->process;

    process->ids.pid = process->ids.host_pid = (int)NATIVE(getpid);
    process->ids.reaper = is_nested ? NO_PID : 0; /* until the number is known */
    pids_of_thread(thread);
    process->ids.host_pid = is_nested ? thread->ids.host_tid : process->ids.pid; /* it has one thread yet */
    if (is_nested)
        process->ids.reaper = (int)pid_by_kernel(process, 1);
}

/* Return whether the next process that the caller makes will be in another PID namespace than the caller. The next
 * process will not be in another namespace if the caller has gone back to its own namespace. */
bool births_are_nested(const struct process *process)
{
    char own[LINK_ROOM], children[LINK_ROOM];

    return !link_of(process, "thread-self/ns/pid_for_children", children) || !link_of(process, "thread-self/ns/pid", own) ||
           !text_equal(own, children);
}

/* Return the host's number of the process with `number` in the /proc that the caller sees, which belongs to the host or
 * to the caller's namespace; NO_PID if it belongs to another namespace, for which there is no translation. */
long proc_number_told(const struct process *process, long number)
{
    struct stat seen, kept;

    if (process->ids.proc <= 0)
        return number;
    if (NATIVE(stat, "/proc", &seen) != 0 || NATIVE(newfstatat, process->ids.proc, "", &kept, AT_EMPTY_PATH) != 0 ||
        seen.st_dev == kept.st_dev)
        return number;
    return pids_are_nested(process) ? pid_by_kernel(process, number) : NO_PID;
}
