/* Takes the turn from a thread that computes without a call, since it may be waiting for another thread to do
 * something.
 *
 * The server decides (rsg_server/turn/preemption.py) and sends SIGSYS, which interrupts the thread anywhere in the
 * application. In the shim the signal is blocked, except in the replacements of the vDSO; a thread in one of these
 * makes a call at this moment, and keeps the turn. */
#include "shim/entry/entry.h"
#include "shim/turn/tracee.h"
#include "shim/turn/turn.h"

void preempted(struct thread *thread, struct ucontext *context)
{
    struct simunix_clock_page *page = thread->process->page;
    struct call call = {.number = __NR_sched_yield, .thread = thread, .mask = SIGNALS_ALL, .mask_before = context->uc_sigmask};
    struct wait wait = {.kind = PARK_PREEMPTED, .deadline = NEVER};
    uint64_t before_ns;

    if (page->preempt == 0) /* the signal comes too late: the thread has made a call in the meantime, and the server
                             * knows this */
        return;
    page->preempt = 0;
    if (trap_is_own_text(context->uc_mcontext.rip))
        return;
    if (thread->policy.is_charged && charge_preempted(thread))
        return;
    before_ns = page->now_ns;
    park(&call, &wait);
    thread->process->cpu.computed_ns += page->now_ns - before_ns; /* the thread goes on with the same computation */
    if (thread->tracee.is_traced)
        tracee_take_signals(thread, context->uc_sigmask, context, -1);
    else
        signals_stop_if_due(thread, context->uc_sigmask);
}
