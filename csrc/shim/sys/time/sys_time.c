/* Clocks, sleeps, alarms, timers. Deadlines are moments of virtual time; the server keeps the timers. */
#include "shim.h"

#define TFD_TIMER_ABSTIME 1
#define TFD_TIMER_CANCEL_ON_SET 2 /* nobody sets the clock here */
#define TIMER_REAL 0 /* the process's ITIMER_REAL and alarm; timer_create's ids follow */

struct interval {
    struct kernel_timespec interval;
    struct kernel_timespec value;
};

static struct kernel_timespec to_timespec(int64_t nanoseconds)
{
    return (struct kernel_timespec){nanoseconds / SECOND_NS, nanoseconds % SECOND_NS};
}

static int64_t to_nanoseconds(const struct kernel_timespec *time)
{
    return time->seconds > INT64_MAX / SECOND_NS - 1 ? INT64_MAX : time->seconds * SECOND_NS + time->nanoseconds;
}

/* Sleep until a deadline; what is left goes to `left` when a signal ends a relative sleep early. */
static long sleep_until(struct call *call, int64_t deadline, struct kernel_timespec *left)
{
    struct wait wait = {.kind = PARK_TIME, .deadline = deadline, .steps = true};

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

    if (!clock_is_known((int)call->a[0]) || call->a[0] == CLOCK_THREAD_CPUTIME_ID)
        return -EINVAL;
    if (is_bad_pointer(wanted))
        return -EFAULT;
    if (!is_valid_time(wanted))
        return -EINVAL;
    return sleep_until(call, clock_deadline(call->thread, (int)call->a[0], wanted, absolute),
                       absolute ? NULL : (void *)call->a[3]);
}

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

/* Arm or disarm one of the server's timers; the times before go to `old`. `first` is a moment, 0 disarms. */
static long timer_set(struct call *call, int64_t id, int64_t first, int64_t interval, int signal, int tid, int64_t value,
                      struct interval *old)
{
    struct reply reply;

    if (ASK(call->thread, &reply, OP_TIMER_SET, id, first, interval, signal, tid, value) < 0)
        return reply.status;
    if (old != NULL) {
        old->value = to_timespec(reply_number(&reply, 1));
        old->interval = to_timespec(reply_number(&reply, 2));
    }
    return 0;
}

long sys_alarm(struct call *call)
{
    struct interval old;
    int64_t seconds = (unsigned int)call->a[0];
    long result = timer_set(call, TIMER_REAL, seconds == 0 ? 0 : clock_after(call->thread, seconds * SECOND_NS), 0,
                            SIGALRM, 0, 0, &old);

    if (result < 0)
        return result;
    /* As the kernel does: never say 0 while something is left. */
    return old.value.seconds + (old.value.nanoseconds >= SECOND_NS / 2 || (old.value.seconds == 0 && old.value.nanoseconds > 0));
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
    struct interval old;
    long status;

    if (call->a[0] != 0)
        return NATIVE(setitimer, call->a[0], call->a[1], call->a[2]);
    if (wanted != NULL)
        times = *wanted;
    scale(&times, false);
    if (!is_valid_time(&times.value) || !is_valid_time(&times.interval))
        return -EINVAL;
    int64_t first = to_nanoseconds(&times.value);
    status = timer_set(call, TIMER_REAL, first == 0 ? 0 : clock_after(call->thread, first), to_nanoseconds(&times.interval),
                       SIGALRM, 0, 0, &old);
    if (status == 0 && result != NULL) {
        scale(&old, true);
        *result = old;
    }
    return status;
}

static long timer_get(struct call *call, int op, int64_t id, struct interval *result)
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

/* POSIX timers. The application's id is an index into this table; a fork child has none, as timer_create(2) says. */
#define POSIX_TIMERS_MAX 64

static struct posix_timer {
    int owner; /* pid, so that a fork child finds its table empty */
    int clock_id;
    int signal;
    int tid;
    int64_t value;
    int kernel_id;  /* where it is the kernel's */
    bool is_native;
} posix_timers[POSIX_TIMERS_MAX];

static struct posix_timer *timer_of(struct call *call, long id)
{
    if (id < 0 || id >= POSIX_TIMERS_MAX || posix_timers[id].owner != call->thread->process->pid)
        return NULL;
    return &posix_timers[id];
}

static long timer_slot(struct call *call)
{
    for (long id = 0; id < POSIX_TIMERS_MAX; id++)
        if (timer_of(call, id) == NULL)
            return id;
    return -EAGAIN;
}

/* A timer of a CPU clock measures real computing, as ITIMER_PROF does: computing takes no virtual time. It is the kernel's. */
static long create_cpu_timer(struct call *call, struct posix_timer *timer)
{
    int kernel_id;
    long result = NATIVE(timer_create, call->a[0], call->a[1], &kernel_id);

    if (result != 0)
        return result;
    timer->owner = call->thread->process->pid;
    timer->kernel_id = kernel_id;
    timer->is_native = true;
    *(int *)call->a[2] = (int)(timer - posix_timers);
    return 0;
}

/* A call on such a timer, with the id that the kernel knows it by. */
static long ask_kernel(struct call *call, const struct posix_timer *timer)
{
    return syscall6(call->number, timer->kernel_id, call->a[1], call->a[2], call->a[3], 0, 0);
}

/* timer_create(2): some way to notify, some signal, one of our own threads. */
static bool is_valid_event(struct call *call, const struct sigevent *event)
{
    bool is_for_thread = (event->sigev_notify & SIGEV_THREAD_ID) != 0;

    if (is_for_thread && NATIVE(tgkill, call->thread->process->pid, event->_sigev_un._tid, 0) != 0)
        return false;
    return event->sigev_notify == SIGEV_NONE || (event->sigev_signo > 0 && event->sigev_signo <= 64);
}

long sys_timer_create(struct call *call)
{
    const struct sigevent *event = (void *)call->a[1];
    long id = timer_slot(call);
    struct posix_timer *timer = &posix_timers[id < 0 ? 0 : id];

    if (is_bad_pointer((void *)call->a[2]) || (event != NULL && is_bad_pointer(event)))
        return -EFAULT;
    if (!clock_is_known((int)call->a[0]) || (event != NULL && !is_valid_event(call, event)))
        return -EINVAL;
    if (id < 0)
        return id;
    *timer = (struct posix_timer){.clock_id = (int)call->a[0], .signal = SIGALRM, .value = id};
    if (clock_is_cpu((int)call->a[0]))
        return create_cpu_timer(call, timer);
    timer->owner = call->thread->process->pid;
    if (event != NULL) {
        timer->signal = event->sigev_notify == SIGEV_NONE ? 0 : event->sigev_signo;
        timer->value = (int64_t)event->sigev_value.sival_ptr;
        if (event->sigev_notify & SIGEV_THREAD_ID)
            timer->tid = event->_sigev_un._tid;
    }
    *(int *)call->a[2] = (int)id;
    return 0;
}

long sys_timer_settime(struct call *call)
{
    struct posix_timer *timer = timer_of(call, call->a[0]);
    const struct interval *wanted = (void *)call->a[2];
    int64_t first = 0;

    if (timer != NULL && timer->is_native)
        return ask_kernel(call, timer);
    if (timer == NULL || is_bad_pointer(wanted) || !is_valid_time(&wanted->value) || !is_valid_time(&wanted->interval))
        return -EINVAL;
    if (to_nanoseconds(&wanted->value) != 0)
        first = clock_deadline(call->thread, timer->clock_id, &wanted->value, (call->a[1] & TIMER_ABSTIME) != 0);
    if (first == 0 && to_nanoseconds(&wanted->value) != 0)
        first = 1; /* long past, but armed */
    return timer_set(call, call->a[0] + 1, first, to_nanoseconds(&wanted->interval), timer->signal, timer->tid,
                     timer->value, (void *)call->a[3]);
}

long sys_timer_gettime(struct call *call)
{
    struct posix_timer *timer = timer_of(call, call->a[0]);

    if (timer == NULL)
        return -EINVAL;
    if (timer->is_native)
        return ask_kernel(call, timer);
    return timer_get(call, OP_TIMER_GET, call->a[0] + 1, (void *)call->a[1]);
}

long sys_timer_delete(struct call *call)
{
    struct posix_timer *timer = timer_of(call, call->a[0]);
    struct reply reply;

    if (timer == NULL)
        return -EINVAL;
    timer->owner = 0;
    if (timer->is_native)
        return ask_kernel(call, timer);
    return ASK(call->thread, &reply, OP_TIMER_DELETE, call->a[0] + 1);
}

long sys_timer_getoverrun(struct call *call)
{
    struct posix_timer *timer = timer_of(call, call->a[0]);
    struct reply reply;

    if (timer == NULL)
        return -EINVAL;
    if (timer->is_native)
        return ask_kernel(call, timer);
    return ASK(call->thread, &reply, OP_TIMER_GET, call->a[0] + 1) < 0 ? reply.status : reply_number(&reply, 3);
}

long sys_timerfd_create(struct call *call)
{
    struct reply reply;

    if (!clock_is_known((int)call->a[0]) || (call->a[1] & ~(O_CLOEXEC | O_NONBLOCK)) != 0)
        return -EINVAL;
    if (ASK(call->thread, &reply, OP_TIMERFD, clock_is_real((int)call->a[0])) < 0)
        return reply.status;
    if ((call->a[1] & O_CLOEXEC) == 0)
        NATIVE(fcntl, reply.fd, F_SETFD, 0);
    if (call->a[1] & O_NONBLOCK)
        NATIVE(fcntl, reply.fd, F_SETFL, O_RDWR | O_NONBLOCK);
    return descriptor_checked(call, reply.fd);
}

/* The server knows the timer by the kernel's number of the eventfd, which survives dup, fork, exec and passing. */
long sys_timerfd_settime(struct call *call)
{
    const struct interval *wanted = (void *)call->a[2];
    struct interval *old = (void *)call->a[3];
    struct reply reply;

    if (is_bad_pointer(wanted))
        return -EFAULT;
    if ((call->a[1] & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)) != 0 || !is_valid_time(&wanted->value) ||
        !is_valid_time(&wanted->interval))
        return -EINVAL;
    if (ASK(call->thread, &reply, OP_TIMERFD_SET, (int)call->a[0], to_nanoseconds(&wanted->value),
            to_nanoseconds(&wanted->interval), (call->a[1] & TFD_TIMER_ABSTIME) != 0) < 0)
        return reply.status;
    if (old != NULL) {
        old->value = to_timespec(reply_number(&reply, 1));
        old->interval = to_timespec(reply_number(&reply, 2));
    }
    return 0;
}

long sys_timerfd_gettime(struct call *call)
{
    return timer_get(call, OP_TIMERFD_GET, (int)call->a[0], (void *)call->a[1]);
}

/* Ticks of 10 ms since boot; computing takes no time. */
long sys_times(struct call *call)
{
    int64_t *result = (void *)call->a[0];

    if (result != NULL)
        memset(result, 0, 4 * sizeof *result);
    return clock_read(call->thread, CLOCK_MONOTONIC) / (SECOND_NS / 100);
}
