/* Clocks and moments of virtual time, read from the clock page. Nothing in this file takes virtual time or gives the
 * turn back. */
#include "shim/core/clock.h"

enum clock_kind { CLOCK_KIND_REAL = 1, CLOCK_KIND_MONOTONIC, CLOCK_KIND_CPU };

static const uint8_t clock_kinds[12] = {
    [CLOCK_REALTIME] = CLOCK_KIND_REAL,
    [CLOCK_MONOTONIC] = CLOCK_KIND_MONOTONIC,
    [CLOCK_PROCESS_CPUTIME_ID] = CLOCK_KIND_CPU,
    [CLOCK_THREAD_CPUTIME_ID] = CLOCK_KIND_CPU,
    [CLOCK_MONOTONIC_RAW] = CLOCK_KIND_MONOTONIC,
    [CLOCK_REALTIME_COARSE] = CLOCK_KIND_REAL,
    [CLOCK_MONOTONIC_COARSE] = CLOCK_KIND_MONOTONIC,
    [CLOCK_BOOTTIME] = CLOCK_KIND_MONOTONIC,
    [CLOCK_REALTIME_ALARM] = CLOCK_KIND_REAL,
    [CLOCK_BOOTTIME_ALARM] = CLOCK_KIND_MONOTONIC,
    [11] = CLOCK_KIND_REAL, /* CLOCK_TAI; no leap seconds here */
};

/* Negative numbers are CPU clocks of a process or thread: (~pid << 3 | kind), see clock_getcpuclockid(3). */
static enum clock_kind kind_of(int clock_id)
{
    if (clock_id < 0)
        return CLOCK_KIND_CPU;
    return clock_id < 12 ? clock_kinds[clock_id] : 0;
}

/* Return whether a clock is that of a device (PTP), named by the device's descriptor. No host has such a device. */
static bool is_of_descriptor(int clock_id)
{
    return clock_id < 0 && (clock_id & 7) == 3;
}

/* Return whether a clock exists. For CPU clocks of processes and threads, the kernel knows. */
bool clock_is_known(int clock_id)
{
    struct kernel_timespec unused;

    if (clock_id < 0)
        return !is_of_descriptor(clock_id) && NATIVE(clock_gettime, clock_id, &unused) == 0;
    return kind_of(clock_id) != 0;
}

/* Return whether Linux has neither timers nor sleeps by a clock, whether the clock exists or not. */
bool clock_lacks_timers(int clock_id)
{
    return clock_id == CLOCK_MONOTONIC_RAW || clock_is_coarse(clock_id) || is_of_descriptor(clock_id);
}

bool clock_is_coarse(int clock_id)
{
    return clock_id == CLOCK_REALTIME_COARSE || clock_id == CLOCK_MONOTONIC_COARSE;
}

bool clock_is_cpu(int clock_id)
{
    return kind_of(clock_id) == CLOCK_KIND_CPU;
}

/* Return whether a clock is CLOCK_REALTIME or counts like it. */
bool clock_is_real(int clock_id)
{
    return kind_of(clock_id) == CLOCK_KIND_REAL;
}

/* Return what a clock shows at virtual time 0. CLOCK_REALTIME and clocks like it count from 1970, all others from the
 * boot. */
int64_t clock_offset(const struct process *process, int clock_id)
{
    return clock_is_real(clock_id) ? process->page->realtime_ns : process->page->monotonic_ns;
}

bool is_valid_time(const struct kernel_timespec *time)
{
    return time->seconds >= 0 && time->nanoseconds >= 0 && time->nanoseconds < SECOND_NS;
}

/* Return the virtual time (ns) after a duration from now; NEVER if it lies 292 years ahead. */
int64_t clock_after(struct thread *thread, int64_t duration_ns)
{
    int64_t deadline;

    if (__builtin_add_overflow((int64_t)thread->process->page->now_ns, duration_ns, &deadline))
        return NEVER;
    return deadline;
}

/* Return the virtual time (ns) of a valid timespec on a clock. */
int64_t clock_deadline(struct thread *thread, int clock_id, const struct kernel_timespec *time, bool absolute)
{
    int64_t value;

    if (__builtin_mul_overflow(time->seconds, SECOND_NS, &value) || __builtin_add_overflow(value, time->nanoseconds, &value))
        return NEVER;
    if (!absolute)
        return clock_after(thread, value);
    value -= clock_offset(thread->process, clock_id);
    return value < 0 ? 0 : value;
}

/* Read the moment that an application's timespec means on a clock; NEVER if there is no timespec. Returns 0, -EFAULT or
 * -EINVAL. */
long clock_read_deadline(struct thread *thread, int clock_id, const struct kernel_timespec *time, bool absolute,
                         int64_t *deadline)
{
    *deadline = NEVER;
    if (time == NULL)
        return 0;
    if (is_bad_pointer(time))
        return -EFAULT;
    if (!is_valid_time(time))
        return -EINVAL;
    *deadline = clock_deadline(thread, clock_id, time, absolute);
    return 0;
}
