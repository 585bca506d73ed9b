/* Ends a system call that a signal interrupts. */
#include "shim/strace/tracing.h"
#include "shim/turn/tracee.h"
#include "shim/turn/turn.h"

#define RED_ZONE 128

/* For a call by a preloaded function, which runs on the application's stack: run the pending handlers on top of this
 * frame, with the call's mask, and then block all signals again. */
static void deliver_here(struct call *call)
{
    struct thread *thread = call->thread;
    uint64_t guard = thread->guard;
    uint64_t all = SIGNALS_IN_SHIM;

    if (call->trace != NULL)
        strace_interrupted(call);
    thread->guard = 0;
    NATIVE(rt_sigprocmask, SIG_SETMASK, &call->mask, NULL, 8);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
    thread->guard = guard;
}

/* For a trapped call: return from it with the call's mask, so that the kernel delivers the signals then, on the
 * application's stack. When the handlers have run, the former mask is restored (core/signal_restorer.S). */
static void deliver_on_return(struct call *call)
{
    struct sigcontext *registers = &call->context->uc_mcontext;
    uint64_t *top = (uint64_t *)((registers->rsp - RED_ZONE) & ~15UL) - 4;

    top[0] = registers->rip;
    top[1] = call->context->uc_sigmask;
    top[2] = registers->rsp;
    registers->rsp = (uint64_t)top;
    registers->rip = (uint64_t)mask_restorer;
    call->context->uc_sigmask = call->mask;
}

/* Return the effect of the signals that this thread may take now on the call in which it waits. The thread's tracer is
 * asked about these signals first. */
enum interruption signals_look(struct call *call)
{
    if (call->thread->tracee.is_traced && tracee_take_signals(call->thread, call->mask, call->context, call->number))
        return INTERRUPT_CALL;
    return signals_check(call);
}

/* Return the negative result of an interrupted call, or 0 to go on waiting. */
long signals_interrupt(struct call *call, enum interruption what, bool restarts)
{
    bool again = restarts && what == INTERRUPT_RESTART;

    /* The signals are delivered on return, in the application's own frame or in the preloaded function, so that
     * unwinding, cancellation and longjmp work as usual. A temporary mask ends with the call, so its handlers must run
     * before. */
    if (!call->temporary_mask)
        return again ? -ERESTART_CALL : -EINTR;
    if (call->context != NULL)
        deliver_on_return(call);
    else
        deliver_here(call);
    return -EINTR;
}
