/* Sending signals (really, then telling the server so that it lets the target look), and waiting for them. */
#include "shim.h"

static long change_action(struct call *call, int signal, const struct kernel_sigaction *action, struct kernel_sigaction *old)
{
    if (signal != SIGSEGV)
        return NATIVE(rt_sigaction, signal, action, old, 8);
    time_stamp_sigaction(call->thread->process, action, old);
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
    if (signal == SIGSYS) { /* ours; the application only believes that it changed it */
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
    action.restorer = (void *)trap_restorer; /* libc's would be trapped */
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

/* Here every signal is blocked, so the kernel's pending set holds more than the application's would. */
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

/* Does it reach the sender: its process, this very thread, its group? SIGSTOP stops all threads, whichever it is sent to. */
static bool reaches_self(struct call *call, long pid, long tid, int signal)
{
    if (pid == call->thread->process->pid)
        return tid == 0 || tid == call->thread->tid || signal == SIGSTOP;
    return pid == 0 ? tid == 0 : pid < -1 && -pid == NATIVE(getpgid, 0);
}

/* A signal that stops the sender itself is announced first: the kernel stops it before it could say so. */
static bool stops_self(struct call *call, long pid, long tid, int signal)
{
    return signals_default_stops(call->thread, signal) && reaches_self(call, pid, tid, signal) &&
           (signal == SIGSTOP || (call->mask & SIGNAL_BIT(signal)) == 0);
}

static long stop_self(struct call *call, long pid, int signal)
{
    long result;

    signals_announce_stop(call->thread, signal, pid > 0 ? -1 : pid);
    result = syscall6(call->number, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4], call->a[5]);
    signals_stop(call->thread, signal);
    return result;
}

/* Send as asked, then tell the server whom to let look. `tid` is 0 for a whole process. */
static long send_signal(struct call *call, long pid, long tid, int signal)
{
    struct reply reply;
    long result;

    if (stops_self(call, pid, tid, signal))
        return stop_self(call, pid, signal);
    result = syscall6(call->number, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4], call->a[5]);
    if (result != 0 || signal == 0 || (pid == call->thread->process->pid && tid == call->thread->tid))
        return result;
    ASK(call->thread, &reply, OP_SIGNAL, pid, tid, signal);
    return 0;
}

/* Where hosts share this computer's pids, -1 would mean everything that runs on it. */
long sys_kill(struct call *call)
{
    if ((int)call->a[0] == -1 && (call->thread->process->flags & HELLO_FLAG_FAKE_NAME)) {
        warn_once(call->thread, WARN_REFUSED, "kill(-1): without namespaces it would reach processes outside the emulation", NULL);
        return -EPERM;
    }
    return send_signal(call, (int)call->a[0], 0, (int)call->a[1]);
}

long sys_tgkill(struct call *call)
{
    return send_signal(call, (int)call->a[0], (int)call->a[1], (int)call->a[2]);
}

/* The process of another process's thread is the server's to find: pid 0 with a thread id means that. */
long sys_tkill(struct call *call)
{
    long own = call->thread->process->pid;
    bool is_own = NATIVE(tgkill, own, call->a[0], 0) == 0;

    return send_signal(call, is_own ? own : 0, (int)call->a[0], (int)call->a[1]);
}

long sys_rt_sigqueueinfo(struct call *call)
{
    return send_signal(call, (int)call->a[0], 0, (int)call->a[1]);
}

long sys_rt_tgsigqueueinfo(struct call *call)
{
    return send_signal(call, (int)call->a[0], (int)call->a[1], (int)call->a[2]);
}

/* A terminal or an O_ASYNC descriptor sends signals that no process announces: the server has to look for them. */
void signals_from_kernel(struct call *call)
{
    struct reply reply;

    if (!call->thread->process->hears_kernel)
        ask(call->thread, &reply, OP_KERNEL_SIGNALS, 0, NULL);
    call->thread->process->hears_kernel = true;
}

/* pid of a pidfd from its fdinfo, as this process's namespace sees it. */
static long pid_of_pidfd(int fd)
{
    char text[512];
    long file = proc_open_numbered("self/fdinfo/", fd);
    long size;

    if (file < 0)
        return -EBADF;
    size = NATIVE(read, file, text, sizeof text - 1);
    NATIVE(close, file);
    text[size > 0 ? size : 0] = '\0';
    for (const char *at = text; *at != '\0'; at++) {
        long pid = 0;

        if (!text_starts(at, "\nPid:\t"))
            continue;
        for (at += 6; *at >= '0' && *at <= '9'; at++)
            pid = 10 * pid + *at - '0';
        return pid > 0 ? pid : -ESRCH;
    }
    return -EBADF;
}

long sys_pidfd_send_signal(struct call *call)
{
    long pid = pid_of_pidfd((int)call->a[0]);

    if (pid < 0)
        return NATIVE(pidfd_send_signal, call->a[0], call->a[1], call->a[2], call->a[3]);
    return send_signal(call, pid, 0, (int)call->a[1]);
}

static long wait_interrupted(struct call *call)
{
    struct wait wait = {.kind = PARK_SIGNAL, .deadline = NEVER};
    long result;

    do
        result = wait_on(call, &wait, false);
    while (result >= 0);
    return result;
}

long sys_pause(struct call *call)
{
    return wait_interrupted(call);
}

long sys_rt_sigsuspend(struct call *call)
{
    enum interruption what;

    if (call->a[1] != 8)
        return -EINVAL;
    if (is_bad_pointer((void *)call->a[0]))
        return -EFAULT;
    signals_temporary_mask(call, (const uint64_t *)call->a[0]);
    what = signals_check(call);
    if (what != INTERRUPT_NONE)
        return signals_interrupt(call, INTERRUPT_CALL, false);
    return wait_interrupted(call);
}

/* sigwait and its kin take a signal from the queue; one that is not waited for interrupts. */
long sys_rt_sigtimedwait(struct call *call)
{
    const struct kernel_timespec *timeout = (void *)call->a[2];
    struct kernel_timespec zero = {0, 0};
    uint64_t set;
    struct wait wait = {.kind = PARK_SIGNAL, .deadline = NEVER};

    if (call->a[3] != 8)
        return -EINVAL;
    if (is_bad_pointer((void *)call->a[0]) || (timeout != NULL && is_bad_pointer(timeout)))
        return -EFAULT;
    if (timeout != NULL && !is_valid_time(timeout))
        return -EINVAL;
    if (timeout != NULL)
        wait.deadline = clock_deadline(call->thread, CLOCK_MONOTONIC, timeout, false);
    set = signals_strip(*(uint64_t *)call->a[0]);
    wait.a = set;
    for (;;) {
        long result = NATIVE(rt_sigtimedwait, &set, call->a[1], &zero, 8);
        enum interruption what;
        enum simunix_wake wake;

        if (result != -EAGAIN)
            return result;
        if (wait.deadline != NEVER && (uint64_t)wait.deadline <= call->thread->process->page->now_ns)
            return -EAGAIN;
        wake = park(call, &wait);
        if (wake == WAKE_SIGNAL) {
            uint64_t mask = call->mask;

            call->mask |= set;
            what = signals_check(call);
            call->mask = mask;
            if (what != INTERRUPT_NONE)
                return signals_interrupt(call, INTERRUPT_CALL, false);
        }
    }
}
