/* Gives the turn back in the middle of a call or a clock read, after which the thread goes on with it. */
#include "shim/turn/tracee.h"
#include "shim/turn/turn.h"

/* May be called from the replaced functions of the vDSO, where signals are not blocked. */
void give_turn_back(struct thread *thread, struct wait *wait)
{
    uint64_t all = SIGNALS_IN_SHIM & ~(thread->process->traps.is_tracee ? SIGNAL_BIT(SIGTRAP) : 0); /* may be single-stepped */
    uint64_t before;
    struct call call = {.number = __NR_sched_yield, .thread = thread};

    NATIVE(rt_sigprocmask, SIG_SETMASK, &all, &before, 8);
    call.mask = SIGNALS_ALL;
    call.mask_before = before;
    park(&call, wait);
    if (thread->tracee.is_traced)
        tracee_take_signals(thread, before, NULL, -1);
    else
        signals_stop_if_due(thread, before);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
}
