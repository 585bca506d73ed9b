/* System calls that read a clock; turn/price.c charges their price. */
#include "shim/core/clock.h"
#include "shim/core/memory.h"
#include "shim/turn/turn.h"

long sys_clock_gettime(struct call *call)
{
    struct kernel_timespec *result = (void *)call->a[1];

    if (!clock_is_known((int)call->a[0]))
        return -EINVAL;
    if (is_bad_pointer(result))
        return -EFAULT;
    *result = to_timespec(clock_read(call->thread, (int)call->a[0]));
    return 0;
}

long sys_clock_getres(struct call *call)
{
    struct kernel_timespec *result = (void *)call->a[1];

    if (!clock_is_known((int)call->a[0]))
        return -EINVAL;
    if (result != NULL)
        *result = (struct kernel_timespec){0, 1};
    return 0;
}

long sys_gettimeofday(struct call *call)
{
    struct kernel_timespec *result = (void *)call->a[0];
    int64_t now = clock_read(call->thread, CLOCK_REALTIME);

    if (result != NULL)
        *result = (struct kernel_timespec){now / SECOND_NS, now % SECOND_NS / 1000};
    if (call->a[1] != 0)
        *(uint64_t *)call->a[1] = 0;
    return 0;
}

long sys_time(struct call *call)
{
    int64_t seconds = clock_read(call->thread, CLOCK_REALTIME) / SECOND_NS;

    if (call->a[0] != 0)
        *(int64_t *)call->a[0] = seconds;
    return seconds;
}

/* Returns ticks of 10 ms since the boot. Computing takes no time, unless it was charged (turn/price.c). */
long sys_times(struct call *call)
{
    int64_t *result = (void *)call->a[0];
    int64_t now = clock_read(call->thread, CLOCK_MONOTONIC);

    if (result != NULL) {
        memset(result, 0, 4 * sizeof *result);
        result[0] = (int64_t)call->thread->process->cpu.computed_ns / (SECOND_NS / 100);
        result[2] = (int64_t)charged_child_ns(call->thread, 0) / (SECOND_NS / 100);
    }
    return now / (SECOND_NS / 100);
}
