/* Signals of a traced process: `deliver` runs before each of the application's handlers, and writes a line. */
#include "shim/strace/strace.h"

static void put_delivery(struct thread *thread, const siginfo_t *info)
{
    struct trace trace;

    strace_line_start(&trace, thread);
    strace_put(&trace, "--- ");
    strace_put_signal(&trace, info->si_signo);
    strace_put_char(&trace, ' ');
    strace_siginfo_of(&trace, info);
    strace_put(&trace, " ---");
    strace_line_end(&trace);
}

/* The handler of a traced process: writes a line about the delivered signal, then calls the application's handler. */
static void deliver(int signal, siginfo_t *info, void *context)
{
    struct thread *thread = current_thread();
    void (*handler)(int, siginfo_t *, void *) = thread->process->strace.handlers[signal];

    if (thread->strace.file >= 0)
        put_delivery(thread, info);
    handler(signal, info, context);
}

/* Replace the application's handler by `deliver`, and ask for siginfo; returns the former handler, for strace_hide. */
struct strace_handler strace_watch(struct thread *thread, int signal, struct kernel_sigaction *action)
{
    struct process *process = thread->process;
    struct strace_handler before = {NULL, false};

    if ((process->flags & HELLO_FLAG_TRACE) == 0 || signal <= 0 || signal > 64)
        return before;
    before.handler = process->strace.handlers[signal];
    before.plain = (process->strace.plain_handlers & SIGNAL_BIT(signal)) != 0;
    if (action != NULL && action->handler != (void *)SIG_DFL && action->handler != (void *)SIG_IGN) {
        process->strace.handlers[signal] = action->handler;
        process->strace.plain_handlers &= ~SIGNAL_BIT(signal);
        if ((action->flags & SA_SIGINFO) == 0)
            process->strace.plain_handlers |= SIGNAL_BIT(signal);
        action->flags |= SA_SIGINFO;
        action->handler = (void *)deliver;
    }
    return before;
}

/* If sigaction(2) has returned `deliver`, replace it by the application's own handler. */
void strace_hide(struct kernel_sigaction *told, struct strace_handler before)
{
    if (told == NULL || told->handler != (void *)deliver)
        return;
    told->handler = before.handler;
    if (before.plain)
        told->flags &= ~(uint64_t)SA_SIGINFO;
}
