/* File locks between processes: the non-waiting form, then again a little later in virtual time. */
#include "shim.h"

#define FASYNC_FLAG 020000

#define FIRST_PAUSE_NS 1000000L
#define LAST_PAUSE_NS 100000000L

/* Try `operation` until it does not say that somebody else holds the lock. */
static long lock_until(struct call *call, long (*attempt)(struct call *call))
{
    int64_t pause = FIRST_PAUSE_NS;

    for (;;) {
        long result = attempt(call);
        struct wait wait = {.kind = PARK_LOCK, .deadline = clock_after(call->thread, pause), .a = (uint64_t)call->a[0]};

        if (result != -EAGAIN && result != -EACCES)
            return result;
        result = wait_on(call, &wait, true);
        if (result < 0)
            return result;
        pause = pause < LAST_PAUSE_NS ? 2 * pause : LAST_PAUSE_NS;
    }
}

static long try_flock(struct call *call)
{
    return NATIVE(flock, call->a[0], call->a[1] | 4); /* LOCK_NB */
}

long sys_flock(struct call *call)
{
    return (call->a[1] & 4) != 0 ? NATIVE(flock, call->a[0], call->a[1]) : lock_until(call, try_flock);
}

static long try_fcntl_lock(struct call *call)
{
    return NATIVE(fcntl, call->a[0], call->a[1] == F_SETLKW ? F_SETLK : F_OFD_SETLK, call->a[2]);
}

long sys_fcntl(struct call *call)
{
    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    switch (call->a[1]) {
    case F_SETLKW:
    case F_OFD_SETLKW:
        return lock_until(call, try_fcntl_lock);
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        if ((uint64_t)call->a[2] >= call->thread->process->nofile_soft)
            return -EINVAL;
        return descriptor_checked(call, NATIVE(fcntl, call->a[0], call->a[1], call->a[2]));
    case F_SETFL:
        if (call->a[2] & FASYNC_FLAG)
            signals_from_kernel(call);
        /* fallthrough */
    default:
        return NATIVE(fcntl, call->a[0], call->a[1], call->a[2]);
    }
}
