/* POSIX timers. The application's id is an index into a table of the process. A child of fork(2) has none of its
 * parent's timers, as timer_create(2) says. */
#include "shim/core/channel.h"
#include "shim/pids/pids.h"
#include "shim/sys/time/time.h"

#define FIRST_TIMERS 64
#define POSIX_TIMERS_MAX 4096

static struct posix_timer {
    int owner; /* the pid of the owner, so that a forked child finds its table empty */
    int clock_id;
    int signal;
    int tid;
    int64_t value;
    int kernel_id; /* the kernel's id, if the kernel keeps the timer */
    bool is_native;
    bool is_cpu; /* the timer counts charged CPU time: that of the thread `cpu_tid`, or of the process if `cpu_tid` is 0 */
    int cpu_tid;
} first_timers[FIRST_TIMERS], *more_timers; /* mapped once there are more timers than those of the first table */

/* Return the place of a timer, whether it is in use or not; NULL: there is no such place. */
static struct posix_timer *place_of(long id)
{
    if (id >= 0 && id < FIRST_TIMERS)
        return &first_timers[id];
    return id >= 0 && id < POSIX_TIMERS_MAX && more_timers != NULL ? &more_timers[id - FIRST_TIMERS] : NULL;
}

static struct posix_timer *timer_of(struct call *call, long id)
{
    struct posix_timer *timer = place_of((int)id);

    return timer != NULL && timer->owner == call->thread->process->ids.pid ? timer : NULL;
}

static bool map_more(void)
{
    long memory = NATIVE(mmap, NULL, (POSIX_TIMERS_MAX - FIRST_TIMERS) * sizeof *more_timers, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory < 0)
        return false;
    more_timers = (struct posix_timer *)memory;
    return true;
}

static long timer_slot(struct call *call)
{
    for (long id = 0; id < POSIX_TIMERS_MAX; id++) {
        if (id == FIRST_TIMERS && more_timers == NULL && !map_more())
            break;
        if (timer_of(call, id) == NULL)
            return id;
    }
    return -EAGAIN;
}

#define CLOCK_OF_THREAD 4 /* a bit of a negative clock id: the number is that of a thread, see clock_getcpuclockid(3) */

/* Return the thread of this process to which a CPU clock belongs; 0: the whole process; -1: another process. */
static int thread_of_clock(const struct call *call, int clock_id)
{
    const struct thread *thread = call->thread;
    int number = ~(clock_id >> 3);

    if (clock_id >= 0)
        return clock_id == CLOCK_THREAD_CPUTIME_ID ? thread->ids.tid : 0;
    if ((clock_id & CLOCK_OF_THREAD) == 0)
        return number == 0 || number == thread->process->ids.pid ? 0 : -1;
    if (number == 0)
        return thread->ids.tid;
    return NATIVE(tgkill, thread->process->ids.pid, number, 0) == 0 ? number : -1;
}

/* Create a timer of a CPU clock. Under the CPU policy free the timer measures real computing, as ITIMER_PROF does, so
 * the kernel keeps the timer. The kernel also keeps timers of another process's CPU clock. */
static long create_cpu_timer(struct call *call, struct posix_timer *timer, long id)
{
    int kernel_id;
    long result = NATIVE(timer_create, call->a[0], call->a[1], &kernel_id);

    if (result != 0)
        return result;
    warn_once(call->thread, WARN_REAL, "a timer of CPU time is made", NULL);
    timer->owner = call->thread->process->ids.pid;
    timer->kernel_id = kernel_id;
    timer->is_native = true;
    *(int *)call->a[2] = (int)id;
    return 0;
}

/* Make a call about a timer that the kernel keeps, with the kernel's id of the timer. */
static long ask_kernel(struct call *call, const struct posix_timer *timer)
{
    return syscall6(call->number, timer->kernel_id, call->a[1], call->a[2], call->a[3], 0, 0);
}

/* Return whether timer_create(2) accepts the event: a known way to notify, a signal, a thread of this process. */
static bool is_valid_event(struct call *call, const struct sigevent *event)
{
    switch (event->sigev_notify) {
    case SIGEV_NONE:
        return true;
    case SIGEV_SIGNAL | SIGEV_THREAD_ID:
        if (NATIVE(tgkill, call->thread->process->ids.pid, event->_sigev_un._tid, 0) != 0)
            return false;
        break;
    case SIGEV_SIGNAL:
    case SIGEV_THREAD:
        break;
    default:
        return false;
    }
    return event->sigev_signo > 0 && event->sigev_signo <= 64;
}

long sys_timer_create(struct call *call)
{
    const struct sigevent *event = (void *)call->a[1];
    long id = timer_slot(call);
    struct posix_timer *timer = place_of(id);

    if (clock_lacks_timers((int)call->a[0]))
        return -EOPNOTSUPP;
    if (!clock_is_known((int)call->a[0]) || (event != NULL && !is_valid_event(call, event)))
        return -EINVAL;
    if (id < 0)
        return id;
    *timer = (struct posix_timer){.clock_id = (int)call->a[0], .signal = SIGALRM, .value = id};
    if (clock_is_cpu((int)call->a[0])) {
        timer->cpu_tid = thread_of_clock(call, (int)call->a[0]);
        timer->is_cpu = call->thread->policy.is_charged && timer->cpu_tid >= 0;
        if (!timer->is_cpu)
            return create_cpu_timer(call, timer, id);
    }
    *(int *)call->a[2] = (int)id; /* before the timer exists: the pointer may be bad */
    timer->owner = call->thread->process->ids.pid;
    if (event != NULL) {
        timer->signal = event->sigev_notify == SIGEV_NONE ? 0 : event->sigev_signo;
        timer->value = (int64_t)event->sigev_value.sival_ptr;
        if (event->sigev_notify & SIGEV_THREAD_ID)
            timer->tid = event->_sigev_un._tid;
    }
    return 0;
}

long sys_timer_settime(struct call *call)
{
    struct posix_timer *timer = timer_of(call, call->a[0]);
    const struct interval *wanted = (void *)call->a[2];
    struct timer_setting setting;
    int64_t first = 0;

    if (timer != NULL && timer->is_native)
        return ask_kernel(call, timer);
    if (timer == NULL || wanted == NULL || !is_valid_time(&wanted->value) || !is_valid_time(&wanted->interval))
        return -EINVAL;
    if (timer->is_cpu)
        first = to_nanoseconds(&wanted->value);
    else if (to_nanoseconds(&wanted->value) != 0)
        first = clock_deadline(call->thread, timer->clock_id, &wanted->value, (call->a[1] & TIMER_ABSTIME) != 0);
    if (first == 0 && to_nanoseconds(&wanted->value) != 0)
        first = 1; /* a moment long past: the timer is armed nevertheless */
    setting = (struct timer_setting){
        call->a[0] + 1, first, to_nanoseconds(&wanted->interval), timer->signal, pid_told(call->thread->process, timer->tid),
        timer->value};
    if (timer->is_cpu)
        return cpu_timer_set(
            call, &setting,
            (struct cpu_clock){pid_told(call->thread->process, timer->cpu_tid), (call->a[1] & TIMER_ABSTIME) != 0},
            (void *)call->a[3]);
    return timer_set(call, &setting, (void *)call->a[3]);
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
