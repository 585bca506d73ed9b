/* Faults: a fault of the shim in the application's memory ends the shim's handler of the call (core/guard.S); a read of
 * the time stamp counter is answered (sys/time/tsc.c); all other faults go to the application. */
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
