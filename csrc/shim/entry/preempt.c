/* Taking the turn from a thread that computes on without a call: it spins, perhaps, until another thread has done something.
 *
 * The server decides (rsg_server/turn/preemption.py) and sends SIGSYS, which finds the thread anywhere in the application. In the
 * shim it is blocked, but for the replacements of the vDSO; whoever is there makes a call just now, and computes no longer.
 */
#include "shim/entry/entry.h"
#include "shim/turn/turn.h"

void preempted(struct thread *thread, const struct ucontext *context)
{
    struct simunix_clock_page *page = thread->process->page;
    struct call call = {.number = __NR_sched_yield, .thread = thread, .mask = SIGNALS_ALL};
    struct wait wait = {.kind = PARK_PREEMPTED, .deadline = NEVER};

    if (page->preempt == 0) /* too late: it has made a call since, and the server knows */
        return;
    page->preempt = 0;
    if (trap_is_own_text(context->uc_mcontext.rip))
        return;
    park(&call, &wait);
    signals_stop_if_due(thread, context->uc_sigmask);
}
