/* Signals: the kernel stores the pending ones and builds the frames of handlers; the server decides when a waiting
 * thread looks for them.
 *
 * While a thread is in the shim every signal is blocked, so a signal sent to it waits in the kernel. When the server
 * wakes the thread for a signal, the call returns -EINTR (or is made to run again), and the kernel delivers the signal
 * at the return from the trap.
 */
#include "shim/core/channel.h"
#include "shim/core/clock.h"
#include "shim/core/memory.h"

/* Remove from a mask the signals that must never be blocked: a trap, a read of the time stamp counter, or a breakpoint
 * whose signal is blocked would kill the process. */
uint64_t signals_strip(uint64_t mask)
{
    uint64_t breakpoints = current_thread()->process->traps.is_tracee ? SIGNAL_BIT(SIGTRAP) : 0;

    return mask & ~(SIGNAL_BIT(SIGSYS) | SIGNAL_BIT(SIGSEGV) | breakpoints);
}

bool signals_default_ignores(int signal)
{
    return signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
}

static bool stops_by_default(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Return whether the kernel has the shim's own action for a signal. */
bool signals_are_ours(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGSYS || signal == SIGTRAP || signal == SIGILL ||
           signal == SIGFPE;
}

/* The first process of a PID namespace gets signals for which it has no handler only from outside, and of these only
 * those that cannot be caught (pid_namespaces(7)). The kernel discards the others. But the kernel keeps such a signal
 * if it comes while the shim blocks all signals. */
static bool drops_as_reaper(int signal)
{
    const struct process *process = current_thread()->process;
    struct kernel_timespec zero = {0, 0};
    uint64_t only = SIGNAL_BIT(signal);

    if (process->ids.reaper == 0 || process->ids.pid != 1 || signal == SIGKILL || signal == SIGSTOP)
        return false;
    while (NATIVE(rt_sigtimedwait, &only, NULL, &zero, 8) > 0)
        ;
    return true;
}

/* Note who has sent a signal that the process takes. A sender that is in no PID namespace of the host is shown as
 * process 0 (pid_namespaces(7)): the server, or a user outside, whose signal comes at a moment of real time. The server
 * reads this note, and knows which signals it has sent itself. */
void signals_note_sender(struct process *process, int signal, int code, int sender)
{
    if (sender == 0 && (code == SI_USER || code == SI_QUEUE || code == SI_TKILL))
        __atomic_fetch_or(&process->page->from_outside, SIGNAL_BIT(signal), __ATOMIC_RELAXED);
}

static void disposition(int signal, struct kernel_sigaction *action)
{
    if (signals_are_ours(signal)) {
        *action = current_thread()->process->signals.actions[signal];
        return;
    }
    memset(action, 0, sizeof *action);
    NATIVE(rt_sigaction, signal, NULL, action, 8);
}

/* Return whether the application blocks or ignores the signal, in the call that it makes. */
bool signals_is_ignored(const struct call *call, int signal)
{
    struct kernel_sigaction action;

    disposition(signal, &action);
    return (call->mask & SIGNAL_BIT(signal)) != 0 || action.handler == (void *)SIG_IGN;
}

/* Return whether this signal, if it were delivered now, would stop the process. */
bool signals_default_stops(int signal)
{
    struct kernel_sigaction action;

    if (!stops_by_default(signal))
        return false;
    disposition(signal, &action);
    return action.handler == (void *)SIG_DFL;
}

/* Tell the server that the kernel is about to stop this process, and to which processes the signal has been sent as
 * well (-1: to no other). */
void signals_announce_stop(struct thread *thread, int signal, long pid)
{
    struct msgpack_writer writer;

    request_start(thread, &writer, OP_STOPPING);
    msgpack_put_int(&writer, signal);
    msgpack_put_int(&writer, pid);
    request_post(thread, &writer);
}

/* Let the kernel stop the process here. Returns when the process has been continued and the thread has the turn. */
void signals_stop(struct thread *thread, int signal)
{
    uint64_t only = SIGNAL_BIT(signal);
    struct reply reply;

    if (signal != SIGSTOP) {
        struct pause pause = pause_begins(thread);

        NATIVE(rt_sigprocmask, SIG_UNBLOCK, &only, NULL, 8);
        NATIVE(rt_sigprocmask, SIG_BLOCK, &only, NULL, 8);
        pause_ends(thread, pause);
    }
    reply_wait(thread, &reply);
}

static void stop_here(struct thread *thread, int signal)
{
    signals_announce_stop(thread, signal, -1);
    signals_stop(thread, signal);
}

/* Stop here if a pending signal that this mask does not block would stop the process as soon as the application runs,
 * while the thread has the turn. */
void signals_stop_if_due(struct thread *thread, uint64_t mask)
{
    uint64_t pending = 0;
    struct kernel_sigaction action;

    thread->delivery.looks_for_stops = false;
    NATIVE(rt_sigpending, &pending, 8);
    for (pending &= ~mask; pending != 0; pending &= pending - 1) {
        int signal = __builtin_ctzl(pending) + 1;

        disposition(signal, &action);
        if (action.handler != (void *)SIG_DFL || signals_default_ignores(signal) || drops_as_reaper(signal))
            continue;
        if (!stops_by_default(signal))
            return; /* a pending signal that ends the process comes first */
        stop_here(thread, signal);
    }
}

/* Return the effect of the signals that this thread may take now on the call in which the thread waits. If a signal
 * stops the process, the process is stopped here. */
enum interruption signals_check(struct call *call)
{
    uint64_t pending = 0;
    struct kernel_sigaction action;

    NATIVE(rt_sigpending, &pending, 8);
    pending &= ~call->mask | SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP);
    for (; pending != 0; pending &= pending - 1) {
        int signal = __builtin_ctzl(pending) + 1;

        disposition(signal, &action);
        if (action.handler == (void *)SIG_IGN ||
            (action.handler == (void *)SIG_DFL && (signals_default_ignores(signal) || drops_as_reaper(signal))))
            continue;
        if (action.handler == (void *)SIG_DFL && stops_by_default(signal)) {
            stop_here(call->thread, signal);
            continue;
        }
        return action.flags & SA_RESTART ? INTERRUPT_RESTART : INTERRUPT_CALL;
    }
    return INTERRUPT_NONE;
}

/* Hand a signal that a thread has sent to its own process to the main thread, which Linux prefers if it may take the
 * signal. Here the kernel would find all signals blocked, and the sender would take the signal when it leaves the shim.
 * So the main thread will send the signal to itself when it has the turn. Returns false if the kernel must decide. */
bool signals_hand_to_main(struct thread *thread, int signal)
{
    struct thread *main = thread->process->main;
    struct kernel_sigaction action;

    if (main == thread || main == NULL || !main->park.is_parked || signal < 1 || signal > 31 ||
        (main->park.mask & SIGNAL_BIT(signal)) != 0)
        return false;
    disposition(signal, &action);
    if (action.handler == (void *)SIG_DFL || action.handler == (void *)SIG_IGN)
        return false;
    main->delivery.handed |= SIGNAL_BIT(signal);
    return true;
}

void signals_take_handed(struct thread *thread)
{
    long pid = thread->process->ids.pid;

    for (; thread->delivery.handed != 0; thread->delivery.handed &= thread->delivery.handed - 1) {
        siginfo_t info = {.si_signo = __builtin_ctzl(thread->delivery.handed) + 1, .si_code = SI_USER};

        info.si_pid = (int)pid;
        info.si_uid = (unsigned)NATIVE(getuid);
        NATIVE(rt_tgsigqueueinfo, pid, thread->ids.tid, info.si_signo, &info);
    }
}

/* From here to the end of the call, wait under another signal mask (ppoll and calls like it). */
void signals_temporary_mask(struct call *call, const uint64_t *mask)
{
    call->mask = signals_strip(*mask);
    call->temporary_mask = true;
}

#define TCGETS 0x5401

/* Tell the server that the kernel may send signals for a terminal or an O_ASYNC descriptor, which no process announces:
 * the server must look for them. Characters typed at a terminal go through a work queue of the kernel, for which the
 * server has to wait as well. */
void signals_from_kernel(struct call *call, int fd)
{
    struct process *process = call->thread->process;
    char settings[64]; /* struct termios of the kernel */
    bool is_terminal = NATIVE(ioctl, fd, TCGETS, settings) == 0;
    struct reply reply;

    if (process->signals.hears_kernel && (process->signals.hears_terminal || !is_terminal))
        return;
    ASK(call->thread, &reply, OP_KERNEL_SIGNALS, is_terminal);
    process->signals.hears_kernel = true;
    process->signals.hears_terminal |= is_terminal;
}
