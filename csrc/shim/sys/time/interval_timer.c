/* alarm and interval timers. The server keeps them. */
#include "shim/core/channel.h"
#include "shim/sys/time/time.h"

/* Arm or disarm one of the server's timers; the times before go to `old`. */
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

long timer_get(struct call *call, int op, int64_t id, struct interval *result)
{
    struct reply reply;

    if (ASK(call->thread, &reply, op, id) < 0)
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
    /* Rounded as the kernel rounds, which never says 0 while something is left. */
    return old.value.seconds +
           (old.value.nanoseconds >= SECOND_NS / 2 || (old.value.seconds == 0 && old.value.nanoseconds > 0));
}

/* A timeval pair stands in the same layout as `struct interval`, with microseconds. */
static void scale(struct interval *times, bool to_microseconds)
{
    times->interval.nanoseconds = to_microseconds ? times->interval.nanoseconds / 1000 : times->interval.nanoseconds * 1000;
    times->value.nanoseconds = to_microseconds ? times->value.nanoseconds / 1000 : times->value.nanoseconds * 1000;
}

/* ITIMER_VIRTUAL and ITIMER_PROF count the thread's real computing and stay the kernel's. */
long sys_setitimer(struct call *call)
{
    const struct interval *wanted = (void *)call->a[1];
    struct interval *result = (void *)call->a[2];
    struct interval times = {{0, 0}, {0, 0}};
    struct timer_setting setting = {.id = TIMER_REAL, .signal = SIGALRM};
    struct interval old;
    int64_t first;
    long status;

    if (call->a[0] != 0) {
        status = NATIVE(setitimer, call->a[0], call->a[1], call->a[2]);
        if (status == 0 && wanted != NULL && (wanted->value.seconds != 0 || wanted->value.nanoseconds != 0))
            warn_once(call->thread, WARN_REAL, "a timer of CPU time is set", NULL);
        return status;
    }
    if (wanted != NULL)
        times = *wanted;
    scale(&times, false);
    if (!is_valid_time(&times.value) || !is_valid_time(&times.interval))
        return -EINVAL;
    first = to_nanoseconds(&times.value);
    setting.first = first == 0 ? 0 : clock_after(call->thread, first);
    setting.interval = to_nanoseconds(&times.interval);
    status = timer_set(call, &setting, &old);
    if (status == 0 && result != NULL) {
        scale(&old, true);
        *result = old;
    }
    return status;
}

long sys_getitimer(struct call *call)
{
    long status;

    if (call->a[0] != 0)
        return NATIVE(getitimer, call->a[0], call->a[1]);
    status = timer_get(call, OP_TIMER_GET, TIMER_REAL, (void *)call->a[1]);
    if (status == 0)
        scale((void *)call->a[1], true);
    return status;
}
