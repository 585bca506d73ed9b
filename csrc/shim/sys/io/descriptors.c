/* Descriptors themselves: closed, copied, made. */
#include "shim/sys/file/file.h"

long sys_close(struct call *call)
{
    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    lock_released(call, call->a[0]);
    return NATIVE(close, call->a[0]);
}

long sys_close_range(struct call *call)
{
    unsigned int floor = (unsigned int)call->thread->process->descriptor_floor;
    unsigned int first = (unsigned int)call->a[0];
    unsigned int last = (unsigned int)call->a[1];

    if (first > last)
        return -EINVAL;
    if (first >= floor)
        return 0;
    if (call->thread->process->page->lock_waiters != 0)
        for (unsigned int fd = first; fd <= last && fd < floor; fd++)
            lock_released(call, fd);
    return NATIVE(close_range, first, last < floor ? last : floor - 1, call->a[2]);
}

/* dup2, dup3: the target must be a number that the application may have. */
long sys_dup_onto(struct call *call)
{
    if (descriptor_is_ours(call, call->a[0]) || descriptor_is_ours(call, call->a[1]) ||
        (uint64_t)(unsigned int)call->a[1] >= call->thread->process->nofile_soft)
        return -EBADF;
    if (call->a[0] != call->a[1])
        lock_released(call, call->a[1]);
    return call_natively(call);
}

long sys_dup(struct call *call)
{
    return descriptor_is_ours(call, call->a[0]) ? -EBADF : descriptor_checked(call, call_natively(call));
}

/* Calls that give back a new descriptor and never wait. */
long sys_new_descriptor(struct call *call)
{
    return descriptor_checked(call, call_natively(call));
}

/* Pairs of new descriptors (pipe, pipe2, socketpair); `at` is the argument that points to them. */
static long checked_pair(struct call *call, int at)
{
    long result = call_natively(call);
    int *pair = (int *)call->a[at];

    if (result != 0 || descriptor_checked(call, pair[0]) >= 0) {
        if (result != 0 || descriptor_checked(call, pair[1]) >= 0)
            return result;
        NATIVE(close, pair[0]);
        return -EMFILE;
    }
    NATIVE(close, pair[1]);
    return -EMFILE;
}

long sys_pipe(struct call *call)
{
    return checked_pair(call, 0);
}

long sys_socketpair(struct call *call)
{
    return checked_pair(call, 3);
}

/* A signalfd is ready for the signals of the process that asks, so only the process itself can tell: see turn/park.c. */
long sys_signalfd(struct call *call)
{
    uint64_t mask;

    call->thread->process->has_signalfd = true;
    if (!is_bad_pointer((void *)call->a[1])) {
        mask = signals_strip(*(uint64_t *)call->a[1]);
        call->a[1] = (long)&mask;
    }
    return descriptor_checked(call, call_natively(call));
}
