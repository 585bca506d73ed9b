/* alarm(2) and interval timers. The server keeps them. */
#include "shim/core/channel.h"
#include "shim/sys/time/time.h"

/* Arm or disarm one of the server's timers. The former times of the timer are written to `old`. */
long timer_set(struct call *call, const struct timer_setting *setting, struct interval *old)
{
    struct reply reply;

    if (ASK(call->thread, &reply, OP_TIMER_SET, setting->id, setting->first, setting->interval, setting->signal, setting->tid,
            setting->value) < 0)
        return reply.status;
    if (old != NULL) {
        old->value = to_timespec(reply_number(&reply, 1));
        old->interval = to_timespec(reply_number(&reply, 2));
    }
    return 0;
}

/* Arm or disarm a timer of charged CPU time, by which it expires. */
long cpu_timer_set(struct call *call, const struct timer_setting *setting, struct cpu_clock clock, struct interval *old)
{
    struct reply reply;

    if (ASK(call->thread, &reply, OP_CPU_TIMER_SET, setting->id, clock.tid, setting->first, setting->interval, setting->signal,
            setting->tid, setting->value, clock.is_absolute) < 0)
        return reply.status;
    if (old != NULL) {
        old->value = to_timespec(reply_number(&reply, 1));
        old->interval = to_timespec(reply_number(&reply, 2));
    }
    return 0;
}

long timer_get(struct call *call, int op, int64_t id, struct interval *result)
{
    struct reply reply;

    if (ask(call->thread, &reply, op, 1, &(const int64_t){id}) < 0)
        return reply.status;
    if (is_bad_pointer(result))
        return -EFAULT;
    result->value = to_timespec(reply_number(&reply, 1));
    result->interval = to_timespec(reply_number(&reply, 2));
    return 0;
}

long sys_alarm(struct call *call)
{
    struct interval old;
    int64_t seconds = (unsigned int)call->a[0];
    struct timer_setting setting = {
        .id = TIMER_REAL, .first = seconds == 0 ? 0 : clock_after(call->thread, seconds * SECOND_NS), .signal = SIGALRM};
    long result = timer_set(call, &setting, &old);

    if (result < 0)
        return result;
    /* Round as the kernel does, which never returns 0 while some time is left. */
    return old.value.seconds +
           (old.value.nanoseconds >= SECOND_NS / 2 || (old.value.seconds == 0 && old.value.nanoseconds > 0));
}

/* Convert between `struct interval` and a pair of timeval, which has the same layout with microseconds. */
static void scale(struct interval *times, bool to_microseconds)
{
    times->interval.nanoseconds = to_microseconds ? times->interval.nanoseconds / 1000 : times->interval.nanoseconds * 1000;
    times->value.nanoseconds = to_microseconds ? times->value.nanoseconds / 1000 : times->value.nanoseconds * 1000;
}

static const struct {
    int64_t id;
    int signal;
} interval_timers[] = {{TIMER_REAL, SIGALRM}, {TIMER_VIRTUAL, SIGVTALRM}, {TIMER_PROF, SIGPROF}};

/* Return whether the kernel keeps a timer: ITIMER_VIRTUAL and ITIMER_PROF under the CPU policy free, where they count
 * the real CPU time of the thread. */
static bool is_kernels(const struct call *call)
{
    return call->a[0] != 0 && (!call->thread->policy.is_charged || call->a[0] < 0 || call->a[0] > 2);
}

static long set_kernels(struct call *call)
{
    const struct interval *wanted = (void *)call->a[1];
    long status = NATIVE(setitimer, call->a[0], call->a[1], call->a[2]);

    if (status == 0 && wanted != NULL && (wanted->value.seconds != 0 || wanted->value.nanoseconds != 0))
        warn_once(call->thread, WARN_REAL, "a timer of CPU time is set", NULL);
    return status;
}

long sys_setitimer(struct call *call)
{
    const struct interval *wanted = (void *)call->a[1];
    struct interval *result = (void *)call->a[2];
    struct interval times = {{0, 0}, {0, 0}};
    struct timer_setting setting = {0};
    struct interval old;
    int64_t first;
    long status;

    if (is_kernels(call))
        return set_kernels(call);
    setting.id = interval_timers[call->a[0]].id;
    setting.signal = interval_timers[call->a[0]].signal;
    if (wanted != NULL)
        times = *wanted;
    scale(&times, false);
    if (!is_valid_time(&times.value) || !is_valid_time(&times.interval))
        return -EINVAL;
    first = to_nanoseconds(&times.value);
    setting.first = first == 0 || call->a[0] != 0 ? first : clock_after(call->thread, first);
    setting.interval = to_nanoseconds(&times.interval);
    status = call->a[0] == 0 ? timer_set(call, &setting, &old) : cpu_timer_set(call, &setting, (struct cpu_clock){0}, &old);
    if (status == 0 && result != NULL) {
        scale(&old, true);
        *result = old;
    }
    return status;
}

long sys_getitimer(struct call *call)
{
    long status;

    if (is_kernels(call))
        return NATIVE(getitimer, call->a[0], call->a[1]);
    status = timer_get(call, OP_TIMER_GET, interval_timers[call->a[0]].id, (void *)call->a[1]);
    if (status == 0)
        scale((void *)call->a[1], true);
    return status;
}
