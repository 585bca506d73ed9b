/* Calls on descriptors themselves: close, copy, make. */
#include "shim/sys/file/file.h"

#include <linux/close_range.h>

long sys_close(struct call *call)
{
    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    lock_released(call, call->a[0]);
    return NATIVE(close, call->a[0]);
}

long sys_close_range(struct call *call)
{
    unsigned int floor = (unsigned int)call->thread->process->descriptors.floor;
    unsigned int first = (unsigned int)call->a[0];
    unsigned int last = (unsigned int)call->a[1];

    if (first > last || (call->a[2] & ~(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)) != 0)
        return -EINVAL;
    if (first >= floor)
        return (call->a[2] & CLOSE_RANGE_UNSHARE) != 0 ? NATIVE(unshare, CLONE_FILES) : 0;
    if (call->thread->process->page->lock_waiters != 0)
        for (unsigned int fd = first; fd <= last && fd < floor; fd++)
            lock_released(call, fd);
    return NATIVE(close_range, first, last < floor ? last : floor - 1, call->a[2]);
}

/* dup2, dup3: the target must be a number that the application may have. */
long sys_dup_onto(struct call *call)
{
    descriptors_reach(call, (uint64_t)(unsigned int)call->a[1]);
    if (descriptor_is_ours(call, call->a[0]) || descriptor_is_ours(call, call->a[1]))
        return -EBADF;
    if (call->a[0] != call->a[1])
        lock_released(call, call->a[1]);
    return call_natively(call);
}

long sys_dup(struct call *call)
{
    return descriptor_is_ours(call, call->a[0]) ? -EBADF : call_natively(call);
}

/* A signalfd is ready for the signals of the process that polls it, so only the process itself can find out whether it
 * is ready: see turn/park.c. */
long sys_signalfd(struct call *call)
{
    uint64_t mask;

    call->thread->process->has_signalfd = true;
    if (!is_bad_pointer((void *)call->a[1])) {
        mask = signals_strip(*(uint64_t *)call->a[1]);
        call->a[1] = (long)&mask;
    }
    return call_natively(call);
}
