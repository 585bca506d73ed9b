/* Actions, masks, pending signals and alternate stacks, as the application is to see them. */
#include "shim/strace/tracing.h"
#include "shim/sys/time/time.h"

static long change_action(struct call *call, int signal, const struct kernel_sigaction *action, struct kernel_sigaction *old)
{
    if (signal != SIGSEGV)
        return NATIVE(rt_sigaction, signal, action, old, 8);
    tsc_sigaction(call->thread->process, action, old);
    return 0;
}

long sys_rt_sigaction(struct call *call)
{
    int signal = (int)call->a[0];
    const struct kernel_sigaction *wanted = (void *)call->a[1];
    struct kernel_sigaction *old = (void *)call->a[2];
    struct kernel_sigaction action;
    struct strace_handler before;
    long result;

    if (call->a[3] != 8)
        return -EINVAL;
    if ((wanted != NULL && is_bad_pointer(wanted)) || (old != NULL && is_bad_pointer(old)))
        return -EFAULT;
    if (signal == SIGSYS) { /* the shim's; the application only believes that it changed the action */
        struct kernel_sigaction *believed = &call->thread->process->sigsys;

        action = *believed;
        if (wanted != NULL)
            *believed = *wanted;
        if (old != NULL)
            *old = action;
        return 0;
    }
    if (wanted == NULL) {
        result = change_action(call, signal, NULL, old);
        if (result == 0)
            strace_hide(old, strace_watch(call->thread, signal, NULL));
        return result;
    }
    action = *wanted;
    action.mask = signals_strip(action.mask);
    action.flags |= SA_RESTORER;
    action.restorer = (void *)signal_restorer; /* libc's would be trapped */
    before = strace_watch(call->thread, signal, &action);
    result = change_action(call, signal, &action, old);
    if (result == 0)
        strace_hide(old, before);
    return result;
}

static const uint64_t signals_that_stop = SIGNAL_BIT(SIGTSTP) | SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU);

/* The mask that counts is the one that the kernel restores when the trap returns. */
long sys_rt_sigprocmask(struct call *call)
{
    uint64_t *mask = &call->context->uc_sigmask;
    const uint64_t *set = (void *)call->a[1];
    uint64_t *old = (void *)call->a[2];
    uint64_t before = *mask;
    uint64_t given;

    if (call->a[3] != 8)
        return -EINVAL;
    if ((set != NULL && is_bad_pointer(set)) || (old != NULL && is_bad_pointer(old)))
        return -EFAULT;
    if (set != NULL) {
        given = signals_strip(*set) & ~(SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP));
        if (call->a[0] == SIG_BLOCK)
            *mask = before | given;
        else if (call->a[0] == SIG_UNBLOCK)
            *mask = before & ~given;
        else if (call->a[0] == SIG_SETMASK)
            *mask = given;
        else
            return -EINVAL;
        if ((before & ~*mask & signals_that_stop) != 0)
            call->thread->looks_for_stops = true;
    }
    if (old != NULL)
        *old = before;
    return 0;
}

/* Every signal is blocked in the shim, so the kernel's pending set holds more than the application's would. */
long sys_rt_sigpending(struct call *call)
{
    uint64_t *set = (void *)call->a[0];
    long result = NATIVE(rt_sigpending, set, call->a[1]);

    if (result == 0 && call->a[1] == 8)
        *set &= call->mask;
    return result;
}

/* The kernel restores the alternate stack from the trap's frame, which may itself lie on it. */
long sys_sigaltstack(struct call *call)
{
    const stack_t *wanted = (void *)call->a[0];
    stack_t *old = (void *)call->a[1];
    stack_t *current = &call->context->uc_stack;
    uint64_t sp = call->context->uc_mcontext.rsp;
    bool on_it = current->ss_size != 0 && sp - (uint64_t)current->ss_sp <= current->ss_size;
    stack_t before = *current;

    if ((wanted != NULL && is_bad_pointer(wanted)) || (old != NULL && is_bad_pointer(old)))
        return -EFAULT;
    before.ss_flags = before.ss_size == 0 ? SS_DISABLE : on_it ? SS_ONSTACK : before.ss_flags & (int)SS_AUTODISARM;
    if (wanted != NULL) {
        stack_t next = *wanted;
        int mode = next.ss_flags & ~(int)SS_AUTODISARM;

        if (on_it)
            return -EPERM;
        if (mode != 0 && mode != SS_DISABLE && mode != SS_ONSTACK)
            return -EINVAL;
        if (mode == SS_DISABLE)
            next = (stack_t){.ss_flags = SS_DISABLE};
        else if (next.ss_size < MINSIGSTKSZ)
            return -ENOMEM;
        *current = next;
    }
    if (old != NULL)
        *old = before;
    return 0;
}
