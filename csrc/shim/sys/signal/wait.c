/* Calls that wait for a signal. */
#include "shim/core/channel.h"
#include "shim/core/clock.h"
#include "shim/turn/turn.h"

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
    what = signals_look(call);
    if (what != INTERRUPT_NONE)
        return signals_interrupt(call, INTERRUPT_CALL, false);
    return wait_interrupted(call);
}

/* Write what the call returns about a signal that was taken from the queue. The server counts how often a timer has
 * expired while its signal was pending; the kernel's siginfo does not contain this number. */
static void take(struct call *call, siginfo_t *info, siginfo_t *told)
{
    struct reply reply;

    signals_note_sender(call->thread->process, info->si_signo, info->si_code, info->si_pid);
    if (told == NULL)
        return;
    if (info->si_code == SI_TIMER && ASK(call->thread, &reply, OP_TIMER_GET, (int64_t)info->si_tid + 1) >= 0)
        info->si_overrun = (int)reply_number(&reply, 3);
    *told = *info;
}

/* sigwait(3) and calls like it take a signal from the queue. A signal that is not waited for interrupts them. */
long sys_rt_sigtimedwait(struct call *call)
{
    const struct kernel_timespec *timeout = (void *)call->a[2];
    struct kernel_timespec zero = {0, 0};
    siginfo_t *told = (void *)call->a[1];
    siginfo_t info;
    uint64_t set;
    struct wait wait = {.kind = PARK_SIGNAL};
    long error;

    if (call->a[3] != 8)
        return -EINVAL;
    if (is_bad_pointer((void *)call->a[0]))
        return -EFAULT;
    error = clock_read_deadline(call->thread, CLOCK_MONOTONIC, timeout, false, &wait.deadline);
    if (error < 0)
        return error;
    set = signals_strip(*(uint64_t *)call->a[0]);
    wait.a = set;
    for (;;) {
        long result = NATIVE(rt_sigtimedwait, &set, &info, &zero, 8);
        enum interruption what;
        enum simunix_wake wake;

        if (result != -EAGAIN) {
            if (result > 0)
                take(call, &info, told);
            return result;
        }
        if (wait.deadline != NEVER && (uint64_t)wait.deadline <= call->thread->process->page->now_ns)
            return -EAGAIN;
        wake = park(call, &wait);
        if (wake == WAKE_SIGNAL) {
            uint64_t mask = call->mask;

            call->mask |= set;
            what = signals_look(call);
            call->mask = mask;
            if (what != INTERRUPT_NONE)
                return signals_interrupt(call, INTERRUPT_CALL, false);
            if (wait.value == SIMUNIX_WAS_STOPPED)
                return -EINTR;
        }
    }
}
