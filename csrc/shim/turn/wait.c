/* The loop of every call that waits: try, give the turn back, try again. */
#include "shim/turn/turn.h"

/* Look for signals before waiting again. Returns 0, or the result of the call. A signal may have come while this thread
 * had given the turn back and was going to run anyhow (it was woken already, or was delayed at the entry of the call by
 * a due event). For such a signal, the server has woken no thread. */
long look_before_waiting_again(struct call *call, bool restarts)
{
    enum interruption what = call->thread->in_call.has_waited ? signals_look(call) : INTERRUPT_NONE;

    return what == INTERRUPT_NONE ? 0 : signals_interrupt(call, what, restarts);
}

/* Give the turn back and wait. A signal with something to deliver ends the call: -EINTR or -ERESTART_CALL, and so does a
 * stop of the process: -EINTR. Otherwise the result is a WAKE_ code. */
long wait_on(struct call *call, struct wait *wait, bool restarts)
{
    for (;;) {
        long ended = look_before_waiting_again(call, restarts);
        enum simunix_wake wake;
        enum interruption what;

        if (ended != 0)
            return ended;
        wake = park(call, wait);
        if (wake != WAKE_SIGNAL)
            return wake;
        what = signals_look(call);
        if (what != INTERRUPT_NONE) {
            long result = signals_interrupt(call, what, restarts);

            if (result != 0)
                return result;
        }
        if (wait->value == SIMUNIX_WAS_STOPPED)
            return -EINTR;
        /* Only the kernel knows which descriptors have become ready meanwhile, and only the caller knows for how much
         * it still waits, so the caller asks the kernel again. */
        if (call->thread->process->has_signalfd || wait->kind == PARK_CHILD || wait->kind == PARK_FD ||
            wait->kind == PARK_COMPUTE)
            return WAKE_READY;
    }
}
