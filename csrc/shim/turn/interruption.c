/* How a call ends that a signal interrupts. */
#include "shim/strace/tracing.h"
#include "shim/turn/turn.h"

/* Run the waiting handlers on top of this very frame, with the call's mask, and block everything again. */
static void deliver_here(struct call *call)
{
    uint64_t all = SIGNALS_ALL;

    if (call->trace != NULL)
        strace_interrupted(call);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &call->mask, NULL, 8);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
}

/* How a call that is interrupted ends: a negative result, or 0 to go on waiting. */
long signals_interrupt(struct call *call, enum interruption what, bool restarts)
{
    bool again = restarts && what == INTERRUPT_RESTART;

    /* Delivered on return, in the application's own frame or in the preloaded function, so that unwinding, cancellation and
     * longjmp meet what they expect. A temporary mask ends with the call, so its handlers must run before. */
    if (!call->temporary_mask)
        return again ? -ERESTART_CALL : -EINTR;
    deliver_here(call);
    return again ? 0 : -EINTR;
}
