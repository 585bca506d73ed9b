/* The shim's own descriptors live at and above a floor, which the application cannot reach (files/floor.c moves it up).
 *
 * The kernel's soft limit is the application's own limit, or the floor if the application's limit is higher. So the
 * kernel itself refuses a descriptor above the limit before anything has happened. The limit is raised only while the
 * shim gets a descriptor of its own. Records of threads contain places, counted from the floor. The code of the channel
 * calls this file, so this file sends no requests to the server. */
#include "shim/core/channel.h"

#define NO_NUMBER 0x7fffffff

/* The highest number that a descriptor of the shim's own has had. Only descriptors up to this number must be closed:
 * close_range(2) looks at each number in the range, up to the end of the kernel's table, which has a thousand places
 * above the floor. */
static int highest_own;

struct limits {
    uint64_t soft;
    uint64_t hard;
};

/* Return the most descriptors that the process may have, by the kernel's hard limit. */
uint64_t descriptors_hard(void)
{
    struct limits limits = {0, 0};

    NATIVE(getrlimit, RLIMIT_NOFILE, &limits);
    return limits.hard;
}

static void set_kernel_soft(uint64_t soft)
{
    struct limits limits = {soft, descriptors_hard()};

    if (limits.soft > limits.hard)
        limits.soft = limits.hard;
    NATIVE(setrlimit, RLIMIT_NOFILE, &limits);
}

/* Raise the kernel's limit, so that the shim can get a descriptor even if the application has as many as it may have. */
void descriptors_raise(void)
{
    set_kernel_soft(~0UL);
}

/* Set the kernel's limit back, so that the kernel refuses descriptors that the application may not have. */
void descriptors_limit(const struct process *process)
{
    uint64_t floor = (uint64_t)process->descriptors.floor;

    set_kernel_soft(process->descriptors.soft < floor ? process->descriptors.soft : floor);
}

/* Return the descriptor number of a place; -1 for no place. */
int descriptor_number(const struct process *process, int place)
{
    return place < 0 ? -1 : process->descriptors.floor + place;
}

/* Note that a descriptor of the shim's own has this number from now on. */
void descriptor_note(int number)
{
    if (number > highest_own)
        highest_own = number;
}

/* Move a descriptor of the shim's out of the application's reach, while the limit is raised. Returns its place. */
int descriptor_hide(const struct process *process, int fd)
{
    long hidden = NATIVE(fcntl, fd, F_DUPFD_CLOEXEC, process->descriptors.floor);

    if (hidden < 0)
        fatal("no descriptor left for the shim; raise the hard limit of open files", NULL, hidden);
    NATIVE(close, fd);
    descriptor_note((int)hidden);
    return (int)hidden - process->descriptors.floor;
}

/* Return whether a descriptor is the shim's own, and so not open as far as the application is concerned. */
bool descriptor_is_ours(const struct call *call, long fd)
{
    return (unsigned int)fd >= (unsigned int)call->thread->process->descriptors.floor;
}

/* Return 0 if the application may have one more descriptor, or -EMFILE. The shim calls this function before the server
 * makes a descriptor for the application. */
long descriptor_is_free(const struct call *call)
{
    long fd = NATIVE(fcntl, descriptor_number(call->thread->process, call->thread->link.channel), F_DUPFD_CLOEXEC, 0);

    if (fd < 0)
        return -EMFILE;
    NATIVE(close, fd);
    return 0;
}

/* In a forked process, close the shim's descriptors of the parent, except for the one at `place`, the file of the
 * shared memory, and /proc. */
void descriptors_close_others(const struct process *process, int place)
{
    int kept[] = {descriptor_number(process, process->descriptors.page_file), descriptor_number(process, place),
                  process->ids.proc > 0 ? process->ids.proc : NO_NUMBER};
    int from = process->descriptors.floor;

    for (unsigned left = sizeof kept / sizeof kept[0]; left > 0; left--) {
        unsigned least = 0;
        int end;

        for (unsigned i = 1; i < sizeof kept / sizeof kept[0]; i++)
            if (kept[i] < kept[least])
                least = i;
        end = kept[least] <= highest_own ? kept[least] : highest_own + 1;
        if (from < end)
            NATIVE(close_range, from, end - 1, 0);
        from = kept[least] == NO_NUMBER ? from : kept[least] + 1;
        kept[least] = NO_NUMBER;
    }
}
