/* Times of files: what is touched gets the time that the clock shows, not the kernel's own. */
#include "shim.h"

#define TIME_NOW ((1L << 30) - 1) /* UTIME_NOW */

long sys_utimensat(struct call *call)
{
    const struct kernel_timespec *wanted = (void *)call->a[2];
    struct kernel_timespec times[2] = {{.nanoseconds = TIME_NOW}, {.nanoseconds = TIME_NOW}};
    int64_t now;
    long result;

    if (wanted != NULL && is_bad_pointer(wanted))
        return -EFAULT;
    if (wanted != NULL)
        memcpy(times, wanted, sizeof times);
    if (times[0].nanoseconds != TIME_NOW && times[1].nanoseconds != TIME_NOW)
        return NATIVE(utimensat, call->a[0], call->a[1], times, call->a[3]);
    now = clock_read(call->thread, CLOCK_REALTIME);
    for (int i = 0; i < 2; i++)
        if (times[i].nanoseconds == TIME_NOW)
            times[i] = (struct kernel_timespec){now / SECOND_NS, now % SECOND_NS};
    result = NATIVE(utimensat, call->a[0], call->a[1], times, call->a[3]);
    /* Who may write a file, but does not own it, may only set its times to the kernel's present. */
    return result != -EPERM ? result : NATIVE(utimensat, call->a[0], call->a[1], wanted, call->a[3]);
}
