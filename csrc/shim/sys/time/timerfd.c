/* timerfd: an eventfd to which the server writes when the timer expires. */
#include "shim/core/channel.h"
#include "shim/sys/time/time.h"

#define TFD_TIMER_ABSTIME 1
#define TFD_TIMER_CANCEL_ON_SET 2 /* no program can set the clock here */

static bool has_timerfds(int clock_id)
{
    return clock_id == CLOCK_REALTIME || clock_id == CLOCK_MONOTONIC || clock_id == CLOCK_BOOTTIME ||
           clock_id == CLOCK_REALTIME_ALARM || clock_id == CLOCK_BOOTTIME_ALARM;
}

long sys_timerfd_create(struct call *call)
{
    struct reply reply;

    if (!has_timerfds((int)call->a[0]) || (call->a[1] & ~(O_CLOEXEC | O_NONBLOCK)) != 0)
        return -EINVAL;
    if (descriptor_is_free(call) != 0)
        return -EMFILE;
    if (ASK(call->thread, &reply, OP_TIMERFD, clock_is_real((int)call->a[0])) < 0)
        return reply.status;
    if ((call->a[1] & O_CLOEXEC) == 0)
        NATIVE(fcntl, reply.fd, F_SETFD, 0);
    if (call->a[1] & O_NONBLOCK)
        NATIVE(fcntl, reply.fd, F_SETFL, O_RDWR | O_NONBLOCK);
    return reply.fd;
}

/* The server knows the timer by the kernel's number of the eventfd, which stays the same through dup, fork, exec and
 * SCM_RIGHTS. */
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
