/* Faults: those of the shim's own in the application's memory end its handler (core/guard.S), readings of the time stamp
 * counter are answered (sys/time/tsc.c), all others are the application's. */
#include "shim/sys/signal/signal.h"
#include "shim/sys/time/time.h"

bool fault_answered(struct thread *thread, struct ucontext *context)
{
    struct sigcontext *registers = &context->uc_mcontext;

    if (trap_is_own_text(registers->rip)) {
        if (thread->guard == 0)
            return false;
        registers->rsp = thread->guard;
        registers->rip = (uint64_t)guard_fault;
        return true;
    }
    return tsc_answer(thread, registers);
}
