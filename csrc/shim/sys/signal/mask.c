/* Signal masks and pending signals, as the application sees them. */
#include "shim/sys/signal/signal.h"

static const uint64_t signals_that_stop = SIGNAL_BIT(SIGTSTP) | SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU);

/* Return the mask that will be restored when the call returns: by the kernel from a trap's frame, or by the shim if a
 * rewritten instruction has made the call (entry/hot_site.c). */
static uint64_t *mask_afterwards(struct call *call)
{
    return call->context != NULL ? &call->context->uc_sigmask : &call->mask_before;
}

/* Set the mask that the application sees. In the kernel, signals that the shim needs are never blocked. */
static void set_mask(struct call *call, uint64_t mask)
{
    *mask_afterwards(call) = signals_strip(mask);
    call->thread->signals.hidden_mask = mask & ~signals_strip(mask);
    action_release_held(call->thread);
}

long sys_rt_sigprocmask(struct call *call)
{
    const uint64_t *set = (void *)call->a[1];
    uint64_t *old = (void *)call->a[2];
    uint64_t before = *mask_afterwards(call) | call->thread->signals.hidden_mask;
    uint64_t given;

    if (call->a[3] != 8)
        return -EINVAL;
    if (set != NULL) {
        given = *set & ~(SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP));
        if (call->a[0] == SIG_BLOCK)
            set_mask(call, before | given);
        else if (call->a[0] == SIG_UNBLOCK)
            set_mask(call, before & ~given);
        else if (call->a[0] == SIG_SETMASK)
            set_mask(call, given);
        else
            return -EINVAL;
        if ((before & ~*mask_afterwards(call) & signals_that_stop) != 0)
            call->thread->delivery.looks_for_stops = true;
    }
    if (old != NULL)
        *old = before;
    return 0;
}

/* Every signal is blocked in the shim, so the kernel's set of pending signals contains more than the application's would. */
long sys_rt_sigpending(struct call *call)
{
    uint64_t *set = (void *)call->a[0];
    long result = NATIVE(rt_sigpending, set, call->a[1]);

    if (result == 0 && call->a[1] == 8)
        *set = (*set & call->mask) | call->thread->signals.held;
    return result;
}
