/* The application's alternate stack for handlers. The kernel does not know this stack; it is stored in the thread's record. */
#include "shim/sys/signal/signal.h"

/* Return whether a stack pointer lies on the alternate stack. A stack that is disabled while a handler runs on it never
 * counts as used (sigaltstack(2)). */
bool alternate_is_used(const struct thread *thread, uint64_t stack_pointer)
{
    const stack_t *stack = &thread->signals.alternate;

    if (((unsigned)stack->ss_flags & SS_AUTODISARM) != 0)
        return false;
    return stack_pointer > (uint64_t)stack->ss_sp && stack_pointer - (uint64_t)stack->ss_sp <= stack->ss_size;
}

/* Set the alternate stack, by the rules of do_sigaltstack of Linux. */
long alternate_set(struct thread *thread, const stack_t *wanted, uint64_t stack_pointer)
{
    int mode = (int)((unsigned)wanted->ss_flags & ~SS_AUTODISARM);
    stack_t next = *wanted;

    if (alternate_is_used(thread, stack_pointer))
        return -EPERM;
    if (mode != 0 && mode != SS_DISABLE && mode != SS_ONSTACK)
        return -EINVAL;
    if (mode == SS_DISABLE) {
        next.ss_sp = NULL;
        next.ss_size = 0;
    } else if (next.ss_size < MINSIGSTKSZ) {
        return -ENOMEM;
    }
    thread->signals.alternate = next;
    return 0;
}

long sys_sigaltstack(struct call *call)
{
    const stack_t *wanted = (void *)call->a[0];
    stack_t *old = (void *)call->a[1];
    uint64_t stack_pointer = call->context->uc_mcontext.rsp;
    struct thread *thread = call->thread;
    stack_t before = thread->signals.alternate;
    unsigned lasting = (unsigned)before.ss_flags & SS_AUTODISARM;
    bool is_used = alternate_is_used(thread, stack_pointer);
    long result = 0;

    before.ss_flags = (int)((before.ss_size == 0 ? SS_DISABLE : is_used ? SS_ONSTACK : 0) | lasting);
    if (wanted != NULL)
        result = alternate_set(thread, wanted, stack_pointer);
    if (result == 0 && old != NULL)
        *old = before;
    return result;
}
