/* adjtimex(2) and clock_adjtime(2): virtual time runs neither fast nor slow, and nobody sets it; it may be asked about. */
#include "shim/core/clock.h"
#include "shim/core/memory.h"
#include "shim/turn/turn.h"

#include <linux/timex.h>

#define MICROSECONDS_A_TICK 10000

/* A clock that is synchronised without an error. */
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
        if (NATIVE(geteuid) == 0) /* others are refused by Linux as well */
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
