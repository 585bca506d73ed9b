/* Signals: the kernel keeps the queue, the server decides when a parked thread looks at it, the kernel builds the frames.
 *
 * While a thread is in the shim every signal is blocked, so a signal sent to it waits in the kernel. When the server wakes the
 * thread for a signal, the call returns -EINTR (or is prepared to run again) and the return from the trap lets the kernel
 * deliver.
 */
#include "shim/core/channel.h"
#include "shim/core/clock.h"
#include "shim/core/memory.h"

/* A trap, or a reading of the time stamp counter, that meets its signal blocked would kill the process; a breakpoint, too. */
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

/* Is the action that the kernel knows the shim's own? */
bool signals_are_ours(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGSYS || signal == SIGTRAP || signal == SIGILL ||
           signal == SIGFPE;
}

/* Process 1 of a PID namespace gets signals for which it has no handler only from outside, and of these what cannot be caught
 * (pid_namespaces(7)). The kernel drops the others; but one that comes while the shim blocks all signals it keeps. */
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

/* A process takes a signal, whichever way. A sender in no PID namespace of the host shows as process 0 (pid_namespaces(7)): the
 * server, or a user outside, whose signal comes at a moment of real time. The server looks at the word, and knows which signals
 * it has sent itself. */
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

/* Does the application block or ignore the signal, in the call that it makes? */
bool signals_is_ignored(const struct call *call, int signal)
{
    struct kernel_sigaction action;

    disposition(signal, &action);
    return (call->mask & SIGNAL_BIT(signal)) != 0 || action.handler == (void *)SIG_IGN;
}

/* Would this signal, delivered now, stop the process? */
bool signals_default_stops(int signal)
{
    struct kernel_sigaction action;

    if (!stops_by_default(signal))
        return false;
    disposition(signal, &action);
    return action.handler == (void *)SIG_DFL;
}

/* Tell the server that the kernel is about to stop this process, and to whom else the signal will have been sent (-1: nobody).
 * */
void signals_announce_stop(struct thread *thread, int signal, long pid)
{
    struct msgpack_writer writer;

    request_start(thread, &writer, OP_STOPPING);
    msgpack_put_int(&writer, signal);
    msgpack_put_int(&writer, pid);
    request_post(thread, &writer);
}

/* Let the kernel stop the process here; return once the process is continued and the thread has the turn. */
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

/* Signals that this mask lets in would stop the process as soon as the application runs, while the thread holds the turn: stop
 * here. */
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
            return; /* the process dies first */
        stop_here(thread, signal);
    }
}

/* What the signals that this thread may take now mean for the call that it waits in. Stops happen here. */
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

/* A thread sends a signal to its own process. Linux prefers the main thread, if that may take it; here the kernel would find
 * all signals blocked, and the sender would take it on its way out of the shim. So the main thread gets it to send it to itself
 * once it has the turn. False: the kernel is to decide. */
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

/* From here to the end of the call, wait under another mask (ppoll and its kin). */
void signals_temporary_mask(struct call *call, const uint64_t *mask)
{
    call->mask = signals_strip(*mask);
    call->temporary_mask = true;
}

#define TCGETS 0x5401

/* A terminal or an O_ASYNC descriptor sends signals that no process announces: the server has to look for them. What is typed
 * at a terminal goes through a work queue of the kernel, for which the server has to wait as well. */
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
