/* POSIX message queues. The descriptors of message queues can be polled, so only the waiting is simulated. */
#include "shim/core/channel.h"
#include "shim/core/clock.h"
#include "shim/turn/turn.h"

/* Make a send or receive with a timeout in the past, which returns at once: -ETIMEDOUT if it would have waited. */
static long try_now(struct call *call)
{
    struct kernel_timespec past = {0, 0};

    return syscall6(call->number, call->a[0], call->a[1], call->a[2], call->a[3], (long)&past, 0);
}

static long queue_operate(struct call *call, short events)
{
    const struct kernel_timespec *timeout = (void *)call->a[4];
    struct pollfd entry = {.fd = (int)call->a[0], .events = events};
    int64_t deadline;
    long error;

    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    error = clock_read_deadline(call->thread, CLOCK_REALTIME, timeout, true, &deadline);
    if (error < 0)
        return error;
    for (;;) {
        long result = try_now(call);

        if (result != -ETIMEDOUT)
            return result;
        result = wait_polled(call, &entry, 1, deadline, true);
        if (result < 0)
            return result;
        if (result == WAKE_TIMEOUT)
            return -ETIMEDOUT;
    }
}

/* Return the number by which all processes that have a queue open know the queue. */
static int64_t queue_number(long fd)
{
    struct stat status;

    return NATIVE(fstat, fd, &status) != 0 ? 0 : (int64_t)inode_word(&status);
}

long sys_mq_timedsend(struct call *call)
{
    long result = queue_operate(call, POLLOUT);
    struct reply reply;

    if (result == 0 && call->thread->process->page->queue_notifies != 0)
        ASK(call->thread, &reply, OP_QUEUE_SENT, queue_number(call->a[0]));
    return result;
}

long sys_mq_timedreceive(struct call *call)
{
    return queue_operate(call, POLLIN);
}

/* The kernel sends the signal itself, so the server must know whom to wake when a message comes. */
long sys_mq_notify(struct call *call)
{
    const struct sigevent *event = (void *)call->a[1];
    bool sends_signal = event != NULL && !is_bad_pointer(event) && event->sigev_notify == SIGEV_SIGNAL;
    struct reply reply;
    long result;

    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    result = NATIVE(mq_notify, call->a[0], event);
    if (result == 0)
        ASK(call->thread, &reply, OP_QUEUE_NOTIFY, queue_number(call->a[0]), sends_signal ? event->sigev_signo : 0);
    return result;
}
