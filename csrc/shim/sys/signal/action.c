/* Actions for signals: those that the application has installed, and those that the kernel has instead.
 *
 * The kernel enters the shim for SIGSYS (the trap net), for faults and traps, and for every signal whose handler wants the
 * alternate stack. The kernel enters all other handlers by signal_watch. In both cases the shim records which process
 * has sent the signal. */
#include "shim/core/memory.h"
#include "shim/turn/tracee.h"
#include "shim/strace/tracing.h"
#include "shim/sys/signal/signal.h"

#define SIGNAL_LAST 64

static bool is_handler(const struct kernel_sigaction *action)
{
    return action->handler != (void *)SIG_DFL && action->handler != (void *)SIG_IGN;
}

static const struct kernel_sigaction entered_by_shim = {.handler = (void *)signal_entry,
                                                        .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
                                                        .restorer = (void *)signal_restorer,
                                                        .mask = SIGNALS_IN_SHIM};

/* Have the kernel enter the shim for traps and wrong instructions as well: breakpoints of a tracer cause these signals,
 * and only a handler can tell whether the process has made the mistake or another process has sent the signal. */
static void enter_for_faults(void)
{
    static const int traps[] = {SIGTRAP, SIGILL, SIGFPE};
    struct kernel_sigaction action = entered_by_shim;

    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++)
        NATIVE(rt_sigaction, traps[i], &action, NULL, 8);
    action.flags |= SA_NODEFER; /* the shim may fault while it makes the frame of a handler */
    NATIVE(rt_sigaction, SIGSEGV, &action, NULL, 8);
    NATIVE(rt_sigaction, SIGBUS, &action, NULL, 8);
}

/* Write the action that the kernel gets for an action of the application into `action`. */
static void kernel_action(const struct kernel_sigaction *wanted, struct kernel_sigaction *action)
{
    *action = *wanted;
    action->flags |= SA_RESTORER;
    action->restorer = (void *)signal_restorer; /* the restorer of libc would be trapped */
    action->mask = signals_strip(action->mask);
    if (!is_handler(wanted))
        return;
    action->handler = (void *)signal_watch;
    action->flags |= SA_SIGINFO;
    if ((wanted->flags & SA_ONSTACK) != 0) {
        action->handler = (void *)signal_entry;
        action->mask = SIGNALS_IN_SHIM;
    }
}

static long change(struct process *process, int signal, const struct kernel_sigaction *wanted, struct kernel_sigaction *old)
{
    struct kernel_sigaction action;
    long result;

    *old = process->signals.actions[signal];
    if (signals_are_ours(signal)) {
        result = 0;
    } else {
        struct kernel_sigaction before;

        if (wanted != NULL)
            kernel_action(wanted, &action);
        result = NATIVE(rt_sigaction, signal, wanted != NULL ? &action : NULL, &before, 8);
        if (before.handler != (void *)signal_entry && before.handler != (void *)signal_watch)
            *old = before;
    }
    if (result == 0 && wanted != NULL)
        process->signals.actions[signal] = *wanted;
    return result;
}

/* Called before the trap net is switched on, which uses SIGSYS. Handlers that were installed before the shim's
 * constructor ran would return through libc's restorer, which is trapped, and may block SIGSYS. With glibc before 2.34,
 * two libraries may install handlers as early: libpthread, which takes 32 and 33, and a sanitizer, which takes signals
 * of faults. */
void actions_start(struct process *process)
{
    static const int asked[] = {SIGSEGV, SIGBUS, SIGSYS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, 32, 33};
    struct kernel_sigaction action;
    struct kernel_sigaction old;

    for (unsigned i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        if (NATIVE(rt_sigaction, asked[i], NULL, &action, 8) != 0)
            continue;
        if (signals_are_ours(asked[i]))
            process->signals.actions[asked[i]] = action;
        else if (is_handler(&action))
            change(process, asked[i], &action, &old);
    }
    enter_for_faults();
}

/* Tell the kernel which signals the application ignores, since a new program inherits the ignored signals. */
void actions_release(const struct process *process)
{
    const struct kernel_sigaction ignore = {.handler = (void *)SIG_IGN};

    for (int signal = 1; signal < SIGSYS; signal++)
        if (signals_are_ours(signal) && process->signals.actions[signal].handler == (void *)SIG_IGN)
            NATIVE(rt_sigaction, signal, &ignore, NULL, 8);
}

/* Undo actions_release, because the exec has failed. */
void actions_take_back(void)
{
    enter_for_faults();
}

long sys_rt_sigaction(struct call *call)
{
    int signal = (int)call->a[0];
    const struct kernel_sigaction *wanted = (void *)call->a[1];
    struct kernel_sigaction *old = (void *)call->a[2];
    struct kernel_sigaction action;
    struct kernel_sigaction told;
    struct strace_handler before;
    long result;

    if (call->a[3] != 8 || signal < 1 || signal > SIGNAL_LAST)
        return -EINVAL;
    if (wanted != NULL)
        action = *wanted;
    if (wanted != NULL && (signal == SIGKILL || signal == SIGSTOP))
        return -EINVAL;
    before = strace_watch(call->thread, signal, wanted != NULL ? &action : NULL);
    result = change(call->thread->process, signal, wanted != NULL ? &action : NULL, &told);
    if (result == 0)
        strace_hide(&told, before);
    if (result == 0 && old != NULL)
        *old = told;
    return result;
}

/* Take the default action, or that of a signal that cannot be handled: a fault occurs again by itself; a signal that
 * was sent is sent again. */
static void take_default(const struct thread *thread, int signal, bool comes_again)
{
    struct kernel_sigaction action = {.handler = (void *)SIG_DFL, .flags = SA_RESTORER, .restorer = (void *)signal_restorer};
    uint64_t only = SIGNAL_BIT(signal);

    NATIVE(rt_sigaction, signal, &action, NULL, 8);
    if (!comes_again)
        NATIVE(tgkill, thread->process->ids.pid, thread->ids.tid, signal);
    NATIVE(rt_sigprocmask, SIG_UNBLOCK, &only, NULL, 8);
}

/* Send those signals again that the application does not block any more. The kernel never knew that they were blocked. */
void action_release_held(struct thread *thread)
{
    uint64_t due = thread->signals.held & ~thread->signals.hidden_mask;

    for (thread->signals.held &= ~due; due != 0; due &= due - 1) {
        int signal = __builtin_ctzl(due) + 1;

        NATIVE(rt_tgsigqueueinfo, thread->process->ids.pid, thread->ids.tid, signal,
               &thread->signals.held_infos[signal == SIGSYS]);
    }
}

/* Return the handler to enter. signal_watch calls this. */
uint64_t action_watched(int signal, const siginfo_t *info)
{
    struct process *process = current_thread()->process;

    signals_note_sender(process, signal, info->si_code, info->si_pid);
    return (uint64_t)process->signals.actions[signal].handler;
}

/* Return how to enter the handler that the application has for this signal; NULL if there is none, and the interrupted
 * code may go on. As in Linux, a fault whose signal is blocked or ignored kills the process. */
const struct handler_entry *action_enter(struct thread *thread, int signal, const siginfo_t *info, struct ucontext *context)
{
    struct kernel_sigaction *installed = &thread->process->signals.actions[signal];
    struct kernel_sigaction action = *installed;
    bool is_fault =
        ((SIGNALS_OF_FAULTS | SIGNALS_OF_TRAPS | SIGNAL_BIT(SIGSYS)) & SIGNAL_BIT(signal)) != 0 && info->si_code > 0;
    const struct handler_entry *entry;

    if (!is_fault && (thread->signals.hidden_mask & SIGNAL_BIT(signal)) != 0) {
        thread->signals.held |= SIGNAL_BIT(signal);
        thread->signals.held_infos[signal == SIGSYS] = *info;
        return NULL;
    }
    if (action.handler == (void *)SIG_IGN && !is_fault)
        return NULL;
    if (!is_handler(&action) || (is_fault && (thread->signals.hidden_mask & SIGNAL_BIT(signal)) != 0)) {
        take_default(thread, signal, is_fault && signal != SIGTRAP && signal != SIGSYS /* of a filter */);
        return NULL;
    }
    entry = frame_prepare(thread, signal, context, &action);
    if (entry == NULL)
        take_default(thread, SIGSEGV, false);
    else if ((action.flags & SA_RESETHAND) != 0)
        installed->handler = (void *)SIG_DFL;
    return entry;
}

/* Return whether every signal is blocked that can be, as while the shim handles a call. */
static bool is_in_shim(const struct ucontext *context)
{
    uint64_t others = SIGNALS_OF_FAULTS | SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSYS) | SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP);

    return trap_is_own_text(context->uc_mcontext.rip) && (context->uc_sigmask | others) == SIGNALS_ALL;
}

/* Block the signal while the interrupted code goes on, and send it again. */
static void postpone(const struct thread *thread, int signal, siginfo_t *info, struct ucontext *context)
{
    uint64_t only = SIGNAL_BIT(signal);

    NATIVE(rt_sigprocmask, SIG_BLOCK, &only, NULL, 8);
    NATIVE(rt_tgsigqueueinfo, thread->process->ids.pid, thread->ids.tid, signal, info);
    context->uc_sigmask |= only;
}

/* Return whether the tracer, if there is one, lets the thread have the signal of a fault or trap. */
static bool is_let_in(struct thread *thread, int signal, const siginfo_t *info, struct ucontext *context)
{
    return !thread->tracee.is_traced || info->si_code <= 0 || tracee_fault(thread, signal, info, context);
}

/* Called by signal_entry, by which the kernel enters the shim. SIGSEGV and SIGBUS are not blocked in the shim, so that its own
 * faults find it: such a signal, if it was sent by a process, waits until the call is over, or until the application
 * unblocks it. */
const struct handler_entry *signal_answer(int signal, siginfo_t *info, struct ucontext *context)
{
    struct thread *thread = current_thread();

    if (info->si_code > 0 && (SIGNALS_OF_FAULTS & SIGNAL_BIT(signal)) != 0) {
        if (fault_answered(thread, context))
            return NULL;
    } else if (is_in_shim(context)) {
        postpone(thread, signal, info, context);
        return NULL;
    } else {
        signals_note_sender(thread->process, signal, info->si_code, info->si_pid);
    }
    return is_let_in(thread, signal, info, context) ? action_enter(thread, signal, info, context) : NULL;
}
