/* Calls that sleep. Each sleep ends at a moment of virtual time. */
#include "shim/core/clock.h"
#include "shim/turn/turn.h"

/* Linux lets a sleep be late by 50 us (PR_SET_TIMERSLACK in prctl(2)), and short sleeps always are late; under simunix
 * no sleep is late. But a thread that makes one short sleep after the other waits for some event, and each sleep costs
 * some microseconds of real time: such a loop would be slower than on a real computer. */
#define SLACK_NS 50000
#define SHORT_SLEEPS 1000

static int64_t heed_slack(struct thread *thread, int64_t deadline)
{
    int64_t late = (int64_t)thread->process->page->now_ns + SLACK_NS;

    if (deadline >= late) {
        thread->spin.short_sleeps = 0;
        return deadline;
    }
    return ++thread->spin.short_sleeps > SHORT_SLEEPS ? late : deadline;
}

/* Sleep until a deadline. If a signal ends a relative sleep early, `left` gets the time that is left. */
static long sleep_until(struct call *call, int64_t deadline, struct kernel_timespec *left)
{
    struct wait wait = {.kind = PARK_TIME, .deadline = heed_slack(call->thread, deadline), .by_handoff = true};

    for (;;) {
        long result = wait_on(call, &wait, false);

        if (result == WAKE_TIMEOUT)
            return 0;
        if (result < 0) {
            int64_t rest = deadline - (int64_t)call->thread->process->page->now_ns;

            if (left != NULL && result == -EINTR)
                *left = to_timespec(rest > 0 ? rest : 0);
            return result;
        }
    }
}

long sys_nanosleep(struct call *call)
{
    const struct kernel_timespec *wanted = (void *)call->a[0];

    if (is_bad_pointer(wanted))
        return -EFAULT;
    if (!is_valid_time(wanted))
        return -EINVAL;
    return sleep_until(call, clock_deadline(call->thread, CLOCK_MONOTONIC, wanted, false), (void *)call->a[1]);
}

long sys_clock_nanosleep(struct call *call)
{
    const struct kernel_timespec *wanted = (void *)call->a[2];
    bool absolute = (call->a[1] & TIMER_ABSTIME) != 0;

    if ((int)call->a[0] == CLOCK_THREAD_CPUTIME_ID)
        return call->context == NULL ? -EINVAL /* libc's own */ : -EOPNOTSUPP;
    if (clock_lacks_timers((int)call->a[0]))
        return -EOPNOTSUPP;
    if ((int)call->a[0] >= 0 && !clock_is_known((int)call->a[0]))
        return -EINVAL;
    if (is_bad_pointer(wanted))
        return -EFAULT;
    if (!is_valid_time(wanted) || !clock_is_known((int)call->a[0]))
        return -EINVAL;
    return sleep_until(call, clock_deadline(call->thread, (int)call->a[0], wanted, absolute),
                       absolute ? NULL : (void *)call->a[3]);
}
