/* Room sys/time: clocks, sleeps, alarms, timers, the time stamp counter, computing that takes time.
 *
 * Deadlines are moments of virtual time; the server keeps the timers. May call turn and below, and no other family.
 */
#ifndef SIMUNIX_SYS_TIME_H
#define SIMUNIX_SYS_TIME_H

#include "shim/core/clock.h"

/* As struct itimerspec. With setitimer(2) the two members contain microseconds in the place of nanoseconds. */
struct interval {
    struct kernel_timespec interval;
    struct kernel_timespec value;
};

struct timer_setting {
    int64_t id;
    int64_t first; /* a moment, or for a CPU timer a duration; 0 disarms the timer */
    int64_t interval;
    int signal;
    int tid; /* 0: the signal goes to the whole process */
    int64_t value;
};

/* For a timer of charged CPU time: the thread whose time counts; 0: the whole process. */
struct cpu_clock {
    int tid;
    bool is_absolute;
};

static inline int64_t to_nanoseconds(const struct kernel_timespec *time)
{
    return time->seconds > INT64_MAX / SECOND_NS - 1 ? INT64_MAX : time->seconds * SECOND_NS + time->nanoseconds;
}

/* interval_timer.c */
long timer_set(struct call *call, const struct timer_setting *setting, struct interval *old);
long cpu_timer_set(struct call *call, const struct timer_setting *setting, struct cpu_clock clock, struct interval *old);
long timer_get(struct call *call, int op, int64_t id, struct interval *result);

/* compute.c */
long compute(struct call *call, uint64_t *flops);

/* tsc.c */
void tsc_trap(const struct process *process);
void tsc_release(void);
bool tsc_answer(struct thread *thread, struct sigcontext *registers);
long tsc_set(struct process *process, long mode);
long tsc_get(const struct process *process, int *mode);

#endif
