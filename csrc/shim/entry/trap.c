/* The trap net: Syscall User Dispatch turns every system call made outside the shim's text into a SIGSYS.
 *
 * Dispatch is set for each thread, and is off in every new thread, fork child and new program, so each of these
 * switches it on again (core/trap_range.c). */
#include "shim/turn/tracee.h"
#include "shim/entry/entry.h"
#include "shim/sys/signal/signal.h"
#include "shim/turn/turn.h"

#include <linux/audit.h>

/* A SIGSYS that is no trap: the server sends one to take the turn; any other is for the application's own handler. */
static void pass_on_foreign_signal(struct thread *thread, siginfo_t *info, struct ucontext *context)
{
    const struct handler_entry *entry;

    if (info->si_code == SIMUNIX_PREEMPT_CODE)
        preempted(thread, context);
    else if (info->si_code == SIMUNIX_TRACE_CODE)
        tracee_stop_here(thread, context);
    else if ((entry = action_enter(thread, SIGSYS, info, context)) != NULL)
        handler_enter(entry);
}

static void trap_handler(int signal, siginfo_t *info, void *raw_context)
{
    struct ucontext *context = raw_context;
    struct sigcontext *registers = &context->uc_mcontext;
    struct thread *thread = current_thread();
    struct call call = {
        .number = (long)registers->rax,
        .a = {(long)registers->rdi, (long)registers->rsi, (long)registers->rdx, (long)registers->r10, (long)registers->r8,
              (long)registers->r9},
        .context = context,
        .thread = thread,
        .mask = context->uc_sigmask,
    };
    long result = 0;

    (void)signal;
    if (info->si_code != SYS_USER_DISPATCH) {
        pass_on_foreign_signal(thread, info, context);
        return;
    }
    thread->process->page->traps++;
    if (__builtin_expect((thread->process->flags & HELLO_FLAG_COUNT_TRAPS) != 0, 0))
        trap_places_count(&call, registers->rip - SYSCALL_BYTES);
    hot_site_trapped(thread->process, call.number, registers->rip - SYSCALL_BYTES);
    thread->in_call.has_waited = false;
    if (call.number != __NR_rt_sigreturn) /* most handlers return without a trap: see sys/signal/frame.c */
        clock_charge_call(&call);
    /* `int $0x80` counts as i386: its numbers and registers mean something else. */
    if (!__builtin_expect(thread->tracee.is_traced, 0) || tracee_enters_call(&call, &result))
        result = info->si_arch == AUDIT_ARCH_X86_64 ? dispatch(&call) : dispatch_unknown(&call, "i386 system call");
    if (__builtin_expect(thread->tracee.is_traced, 0)) {
        tracee_leaves_call(&call, result);
        return;
    }
    if (result == -ERESTART_CALL) {
        registers->rip -= SYSCALL_BYTES; /* the syscall instruction again, once the signal handler that waits has run */
        return;
    }
    registers->rax = (uint64_t)result;
}

void trap_install(void)
{
    struct kernel_sigaction action = {
        .handler = (void *)trap_handler,
        /* ONSTACK: on the shim's own stack (core/threads.c), since the application's may have no room. */
        .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
        .restorer = (void *)signal_restorer,
        .mask = SIGNALS_IN_SHIM,
    };
    uint64_t sigsys = SIGNAL_BIT(SIGSYS);

    NATIVE(rt_sigaction, SIGSYS, &action, NULL, 8);
    NATIVE(rt_sigprocmask, SIG_UNBLOCK, &sigsys, NULL, 8);
}
