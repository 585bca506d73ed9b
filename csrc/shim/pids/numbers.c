/* Translates the number of a process in a PID namespace into the host's number, and back, with the help of the kernel.
 * A pidfd is opened by the number that the caller sees, and its fdinfo tells the number that the owner of /proc sees;
 * status lists one number for each namespace. */
#include "shim/core/memory.h"
#include "shim/pids/pids.h"

#define TEXT_ROOM 2048
#define PIDFD_OF_THREAD O_EXCL /* Linux 6.9 and later */

static bool read_text(long file, char *text)
{
    long size;

    if (file < 0)
        return false;
    size = NATIVE(read, file, text, TEXT_ROOM - 1);
    NATIVE(close, file);
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

static long number_at(const char **text)
{
    long number = 0;

    while (**text == '\t' || **text == ' ')
        (*text)++;
    if (**text < '0' || **text > '9')
        return -1;
    while (**text >= '0' && **text <= '9')
        number = 10 * number + *(*text)++ - '0';
    return number;
}

/* Return the numbers after the name of a line in /proc/PID/status: `name` begins with the end of the line before. NULL
 * if there is no such line. */
static const char *numbers_of(const char *text, const char *name)
{
    for (; *text != '\0'; text++)
        if (text_starts(text, name))
            return text + text_length(name);
    return NULL;
}

/* Return the number at a place of such a line, counted from the host's namespace inwards; -1: there is none. */
static long number_in(const char *text, const char *name, int place)
{
    const char *at = numbers_of(text, name);
    long number = -1;

    for (int i = 0; at != NULL && i <= place; i++)
        number = number_at(&at);
    return number;
}

static bool read_status(const char *folder, long number, char *text)
{
    char path[64];
    char *end = path + sizeof path;

    text_append(text_append_number(text_append(path, end, folder), end, number), end, "/status");
    return read_text(proc_open(path), text);
}

/* Return how many PID namespaces the process is below its host's. */
static int depth_of(const struct process *process, char *text)
{
    int depth = 0;

    if (!read_status("", process->ids.host_pid, text))
        return 0;
    while (number_in(text, "\nNSpid:", depth + 1) >= 0)
        depth++;
    return depth;
}

/* Store the host's number of the process of an open pidfd, and return the number in the caller's namespace; -EBADF if
 * the descriptor is no pidfd, 0 if the caller does not see the process. */
long pid_of_pidfd(const struct process *process, int fd, long *host_number)
{
    char text[TEXT_ROOM];
    long number;

    if (!read_text(proc_open_numbered("self/fdinfo/", fd), text))
        return -EBADF;
    number = number_in(text, "\nPid:", 0);
    *host_number = number;
    if (number_in(text, "\nPid:\t-", 0) >= 0)
        return -ESRCH;
    if (number < 0)
        return -EBADF;
    if (!pids_are_nested(process))
        return number > 0 ? number : -ESRCH;
    if (number == process->ids.host_pid)
        return process->ids.pid;
    number = pid_shown_by_kernel(process, number);
    return number == NO_PID ? 0 : number;
}

/* Find a thread of the caller's own process, on kernels without pidfds of threads. */
static long own_thread(long number)
{
    long folder = proc_open_for("self/task", O_RDONLY | O_DIRECTORY);
    char entries[1024];
    long found = NO_PID;
    long size;

    while (folder >= 0 && found == NO_PID && (size = NATIVE(getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < size && found == NO_PID; at += *(const uint16_t *)(entries + at + 16)) {
            const char *name = entries + at + 19; /* struct linux_dirent64 */
            char text[TEXT_ROOM];
            long task = number_at(&name);
            int last = 0;

            if (task <= 0 || !read_status("self/task/", task, text))
                continue;
            while (number_in(text, "\nNSpid:", last + 1) >= 0)
                last++;
            if (number_in(text, "\nNSpid:", last) == number)
                found = task;
        }
    if (folder >= 0)
        NATIVE(close, folder);
    return found;
}

static long number_by_pidfd(long number, long flags)
{
    char text[TEXT_ROOM];
    long result = NO_PID;
    long fd;

    fd = NATIVE(pidfd_open, number, flags);
    if (fd == -EMFILE) { /* the application's limit of descriptors does not count here */
        descriptors_raise();
        fd = NATIVE(pidfd_open, number, flags);
        descriptors_limit(current_thread()->process);
    }
    if (fd >= 0) {
        if (read_text(proc_open_numbered("thread-self/fdinfo/", (int)fd), text))
            result = number_in(text, "\nPid:", 0);
        NATIVE(close, fd);
    }
    return result > 0 ? result : NO_PID;
}

/* Return the host's number of the process or thread that has `number` in the caller's namespace; NO_PID if there is none. */
long pid_by_kernel(const struct process *process, long number)
{
    long found;

    if (number == process->ids.pid && process->ids.host_pid != 0)
        return process->ids.host_pid;
    if (number == current_thread()->ids.tid && current_thread()->ids.host_tid != 0)
        return current_thread()->ids.host_tid;
    found = number_by_pidfd(number, 0);
    if (found == NO_PID)
        found = number_by_pidfd(number, PIDFD_OF_THREAD);
    return found != NO_PID ? found : own_thread(number);
}

/* Return the number in the caller's namespace of the process or thread with the host's `number`; NO_PID if the caller's
 * namespace does not contain it. */
long pid_shown_by_kernel(const struct process *process, long number)
{
    char text[TEXT_ROOM];
    int depth;
    long shown;

    if (number == process->ids.host_pid)
        return process->ids.pid;
    depth = depth_of(process, text);
    if (!read_status("", number, text))
        return NO_PID;
    shown = number_in(text, "\nNSpid:", depth);
    return shown > 0 ? shown : NO_PID;
}

/* Return the host's number of a process group. If the leader has ended, the number is found by a member. */
long group_by_kernel(const struct process *process, long group)
{
    long found = number_by_pidfd(group, 0);
    char entries[1024];
    char text[TEXT_ROOM];
    int depth;
    long folder;
    long size;

    if (found != NO_PID)
        return found;
    depth = depth_of(process, text);
    folder = proc_open_for(".", O_RDONLY | O_DIRECTORY);
    while (folder >= 0 && found == NO_PID && (size = NATIVE(getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < size && found == NO_PID; at += *(const uint16_t *)(entries + at + 16)) {
            const char *name = entries + at + 19;
            long number = number_at(&name);

            if (number > 0 && read_status("", number, text) && number_in(text, "\nNSpgid:", depth) == group)
                found = number_in(text, "\nNSpgid:", 0);
        }
    if (folder >= 0)
        NATIVE(close, folder);
    return found;
}
