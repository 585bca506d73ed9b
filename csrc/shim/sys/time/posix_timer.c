/* POSIX timers. The application's id is an index into a table here; a fork child has none, as timer_create(2) says. */
#include "shim/core/channel.h"
#include "shim/sys/time/time.h"

#define POSIX_TIMERS_MAX 64

static struct posix_timer {
    int owner; /* pid, so that a fork child finds its table empty */
    int clock_id;
    int signal;
    int tid;
    int64_t value;
    int kernel_id; /* where it is the kernel's */
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
    warn_once(call->thread, WARN_REAL, "a timer of CPU time is made", NULL);
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

/* timer_create(2): some way to notify, some signal, a thread of this process. */
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
    struct timer_setting setting;
    int64_t first = 0;

    if (timer != NULL && timer->is_native)
        return ask_kernel(call, timer);
    if (timer == NULL || wanted == NULL || !is_valid_time(&wanted->value) || !is_valid_time(&wanted->interval))
        return -EINVAL;
    if (to_nanoseconds(&wanted->value) != 0)
        first = clock_deadline(call->thread, timer->clock_id, &wanted->value, (call->a[1] & TIMER_ABSTIME) != 0);
    if (first == 0 && to_nanoseconds(&wanted->value) != 0)
        first = 1; /* long past, but armed */
    setting = (struct timer_setting){call->a[0] + 1, first,      to_nanoseconds(&wanted->interval),
                                     timer->signal,  timer->tid, timer->value};
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
