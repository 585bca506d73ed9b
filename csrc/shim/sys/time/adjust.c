/* adjtimex(2), clock_adjtime(2), clock_settime(2), settimeofday(2): virtual time runs neither fast nor slow, and no
 * program sets it, but programs may ask about it. */
#include "shim/core/clock.h"
#include "shim/core/memory.h"
#include "shim/turn/turn.h"

#include <linux/timex.h>

#define MICROSECONDS_A_TICK 10000
#define MICROSECONDS 1000000

/* Describe a clock that is synchronised without an error. */
static void tell(struct thread *thread, struct __kernel_timex *clock)
{
    int64_t now = clock_read(thread, CLOCK_REALTIME);

    memset(clock, 0, sizeof *clock);
    clock->status = STA_PLL;
    clock->precision = 1;
    clock->tolerance = INT64_C(500) << 16; /* parts per million, with 16 bits of fraction */
    clock->tick = MICROSECONDS_A_TICK;
    clock->time.tv_sec = now / SECOND_NS;
    clock->time.tv_usec = now % SECOND_NS / 1000;
}

static long adjust(struct call *call, struct __kernel_timex *clock)
{
    if (is_bad_pointer(clock))
        return -EFAULT;
    if (clock->modes != 0 && clock->modes != ADJ_OFFSET_SS_READ) {
        if (NATIVE(geteuid) == 0) /* Linux refuses other clocks as well */
            warn_once(call->thread, WARN_REFUSED, call->number == __NR_adjtimex ? "adjtimex" : "clock_adjtime", NULL);
        return -EPERM;
    }
    tell(call->thread, clock);
    return TIME_OK;
}

long sys_adjtimex(struct call *call)
{
    return adjust(call, (void *)call->a[0]);
}

long sys_clock_adjtime(struct call *call)
{
    if (!clock_is_known((int)call->a[0]))
        return -EINVAL;
    if ((int)call->a[0] != CLOCK_REALTIME)
        return -EOPNOTSUPP;
    return adjust(call, (void *)call->a[1]);
}

/* Only CLOCK_REALTIME could be set. For other clocks, Linux returns another errno if the clock is the CPU clock of a
 * given process. */
long check_clock_settime(struct call *call)
{
    const struct kernel_timespec *wanted = (void *)call->a[1];
    int clock_id = (int)call->a[0];

    if (clock_id != CLOCK_REALTIME && clock_id >= 0)
        return -EINVAL;
    if (is_bad_pointer(wanted))
        return -EFAULT;
    if (clock_id < 0)
        return clock_is_known(clock_id) ? -EPERM : -EINVAL;
    return is_valid_time(wanted) ? 0 : -EINVAL;
}

/* The second member of the requested time is in microseconds. */
long check_settimeofday(struct call *call)
{
    const struct kernel_timespec *wanted = (void *)call->a[0];
    bool is_valid = wanted == NULL || (wanted->seconds >= 0 && wanted->nanoseconds >= 0 && wanted->nanoseconds < MICROSECONDS);

    return is_valid ? 0 : -EINVAL;
}
