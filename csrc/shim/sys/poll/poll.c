/* poll, select and epoll: the kernel says what is ready; only the waiting is simulated. */
#include "shim/core/clock.h"
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/poll/poll.h"
#include "shim/turn/turn.h"

struct sigset_argument {
    const uint64_t *mask;
    uint64_t size;
};

/* Begin a call with a temporary mask. If the mask does not block a signal that is pending already, the call ends before
 * it has begun. */
static long begin_mask(struct call *call, const uint64_t *mask, uint64_t size)
{
    enum interruption what;

    if (mask == NULL)
        return 0;
    if (size != sizeof *mask)
        return -EINVAL;
    if (is_bad_pointer(mask))
        return -EFAULT;
    signals_temporary_mask(call, mask);
    what = signals_look(call);
    return what == INTERRUPT_NONE ? 0 : signals_interrupt(call, INTERRUPT_CALL, false);
}

static int64_t milliseconds_deadline(struct call *call, int timeout)
{
    return timeout < 0 ? NEVER : clock_after(call->thread, (int64_t)timeout * 1000000);
}

static bool is_past(struct call *call, int64_t deadline)
{
    return deadline != NEVER && (uint64_t)deadline <= call->thread->process->page->now_ns;
}

/* Ask the kernel once. A descriptor of the shim's own is not open as far as the application is concerned. */
static long poll_once(struct call *call, struct pollfd *fds, unsigned count)
{
    int floor = call->thread->process->descriptors.floor;
    long result = NATIVE(poll, fds, count, 0);

    for (unsigned i = 0; result >= 0 && i < count; i++)
        if (fds[i].fd >= floor) {
            result += fds[i].revents == 0;
            fds[i].revents = POLLNVAL;
        }
    if (result >= 0 && call->thread->process->cgroups.are_used)
        result += cgroup_poll(call, fds, count);
    return result;
}

static long found(struct call *call, long result)
{
    clock_found(call->thread);
    return result;
}

static long poll_until(struct call *call, struct pollfd *fds, unsigned count, int64_t deadline)
{
    descriptors_reach(call, count > 0 ? count - 1 : 0); /* poll takes as many entries as there may be descriptors */
    for (;;) {
        long result = poll_once(call, fds, count);

        if (result != 0)
            return found(call, result);
        if (is_past(call, deadline)) {
            clock_charge_poll(call);
            return 0;
        }
        result = wait_polled(call, fds, count, deadline, false);
        if (result < 0)
            return result;
        if (result == WAKE_TIMEOUT)
            return poll_once(call, fds, count);
    }
}

long sys_poll(struct call *call)
{
    return poll_until(call, (struct pollfd *)call->a[0], (unsigned)call->a[1], milliseconds_deadline(call, (int)call->a[2]));
}

/* Write the rest of the time-out back, as the kernel does. */
static void store_left(struct call *call, struct kernel_timespec *timeout, int64_t deadline, int64_t unit)
{
    int64_t left = deadline - (int64_t)call->thread->process->page->now_ns;

    if (timeout == NULL)
        return;
    left = left < 0 ? 0 : left;
    timeout->seconds = left / SECOND_NS;
    timeout->nanoseconds = left % SECOND_NS / unit;
}

long sys_ppoll(struct call *call)
{
    struct kernel_timespec *timeout = (void *)call->a[2];
    int64_t deadline;
    long result = clock_read_deadline(call->thread, CLOCK_MONOTONIC, timeout, false, &deadline);

    if (result == 0)
        result = begin_mask(call, (const uint64_t *)call->a[3], (uint64_t)call->a[4]);
    if (result == -EINVAL || result == -EFAULT) /* the call has not waited */
        return result;
    if (result == 0)
        result = poll_until(call, (struct pollfd *)call->a[0], (unsigned)call->a[1], deadline);
    store_left(call, timeout, deadline, 1);
    return result;
}

struct sets {
    uint64_t *result[3];
    uint64_t *wanted[3];
    unsigned words;
    int count;
};

static const short set_events[3] = {POLLIN | POLLRDHUP, POLLOUT, POLLPRI};

/* Write the descriptors of the three sets as entries for poll(2), in ascending order, into a temporary mapping. */
static unsigned to_entries(const struct sets *sets, struct pollfd *entries)
{
    unsigned count = 0;

    for (int fd = 0; fd < sets->count; fd++) {
        short events = 0;

        for (int i = 0; i < 3; i++)
            if (sets->wanted[i][fd / 64] >> (fd % 64) & 1)
                events |= set_events[i];
        if (events != 0)
            entries[count++] = (struct pollfd){.fd = fd, .events = events};
    }
    return count;
}

static void restore_sets(struct sets *sets)
{
    for (int i = 0; i < 3; i++)
        if (sets->result[i] != NULL)
            memcpy(sets->result[i], sets->wanted[i], sets->words * 8);
}

static long select_once(struct sets *sets)
{
    struct kernel_timespec zero = {0, 0};

    return NATIVE(select, sets->count, sets->result[0], sets->result[1], sets->result[2], &zero);
}

static long select_wait(struct call *call, struct sets *sets, int64_t deadline, struct pollfd *entries)
{
    unsigned count = to_entries(sets, entries);

    for (;;) {
        long result = select_once(sets);

        if (result != 0)
            return found(call, result);
        if (is_past(call, deadline)) {
            clock_charge_poll(call);
            return 0;
        }
        restore_sets(sets);
        result = wait_polled(call, entries, count, deadline, false);
        if (result < 0)
            return result;
    }
}

/* Save the sets of the application, since the kernel overwrites them. The function is called guarded, since the
 * temporary mapping must be freed. */
static long keep_sets(void *argument)
{
    struct sets *sets = argument;

    for (int i = 0; i < 3; i++)
        if (sets->result[i] != NULL)
            memcpy(sets->wanted[i], sets->result[i], sets->words * 8);
    return 0;
}

/* Descriptors beyond the highest that may be open are not looked at, as in the kernel. */
static long select_until(struct call *call, int64_t deadline)
{
    struct sets sets = {.result = {(void *)call->a[1], (void *)call->a[2], (void *)call->a[3]}, .count = (int)call->a[0]};
    int floor = call->thread->process->descriptors.floor;
    size_t sets_size, size;
    long scratch;
    long result;

    if (sets.count < 0)
        return -EINVAL;
    if (sets.count > floor)
        sets.count = floor;
    sets.words = ((unsigned)sets.count + 63) / 64;
    sets_size = 3 * sets.words * sizeof(uint64_t);
    size = sets_size + (size_t)sets.count * sizeof(struct pollfd) + 1;
    scratch = NATIVE(mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (scratch < 0)
        return scratch;
    for (int i = 0; i < 3; i++)
        sets.wanted[i] = (uint64_t *)scratch + (size_t)i * sets.words;
    result = guarded_call(keep_sets, &sets);
    if (result == 0)
        result = select_wait(call, &sets, deadline, (struct pollfd *)(scratch + (long)sets_size));
    NATIVE(munmap, scratch, size);
    return result;
}

long sys_select(struct call *call)
{
    struct kernel_timespec *timeout = (void *)call->a[4]; /* a timeval */
    struct kernel_timespec converted;
    int64_t deadline = NEVER;
    long result;

    if (timeout != NULL) {
        if (is_bad_pointer(timeout))
            return -EFAULT;
        if (timeout->seconds < 0 || timeout->nanoseconds < 0)
            return -EINVAL;
        converted =
            (struct kernel_timespec){timeout->seconds + timeout->nanoseconds / 1000000, timeout->nanoseconds % 1000000 * 1000};
        result = clock_read_deadline(call->thread, CLOCK_MONOTONIC, &converted, false, &deadline);
        if (result != 0)
            return result;
    }
    result = select_until(call, deadline);
    store_left(call, timeout, deadline, 1000);
    return result;
}

long sys_pselect6(struct call *call)
{
    struct kernel_timespec *timeout = (void *)call->a[4];
    const struct sigset_argument *argument = (void *)call->a[5];
    int64_t deadline;
    long result = clock_read_deadline(call->thread, CLOCK_MONOTONIC, timeout, false, &deadline);

    if (result == 0 && argument != NULL)
        result = begin_mask(call, argument->mask, argument->size);
    if (result == -EINVAL || result == -EFAULT)
        return result;
    if (result == 0)
        result = select_until(call, deadline);
    store_left(call, timeout, deadline, 1);
    return result;
}

static long epoll_until(struct call *call, int64_t deadline)
{
    struct pollfd entries[1 + WATCHED_TERMINALS_MAX] = {{.fd = (int)call->a[0], .events = POLLIN}};
    struct exclusive_listener listener;
    bool is_elsewhere = false; /* another thread was woken for the connections of `listener` */

    for (;;) {
        unsigned count = epoll_terminals(call, entries);
        long result = is_elsewhere ? epoll_look_past(call, &listener) : epoll_look(call);

        if (result > 1 && call->thread->process->watches.terminal_count > 0)
            epoll_put_terminals_first(call, (struct epoll_event *)call->a[1], (unsigned)result);

        if (result != 0)
            return found(call, result);
        if (is_past(call, deadline)) {
            clock_charge_poll(call);
            return 0;
        }
        if (call->thread->process->watches.exclusive_count == 0 ||
            !epoll_exclusive(call->thread->process, entries[0].fd, &listener)) {
            is_elsewhere = false;
            result = wait_polled(call, entries, count, deadline, false);
        } else {
            result = wait_exclusively(call, entries, count, deadline, listener.socket, listener.is_file, is_elsewhere);
            is_elsewhere = result == WAKE_ELSEWHERE || (is_elsewhere && result == WAKE_TIMEOUT);
        }
        if (result < 0)
            return result;
    }
}

long sys_epoll_wait(struct call *call)
{
    return epoll_until(call, milliseconds_deadline(call, (int)call->a[3]));
}

long sys_epoll_pwait(struct call *call)
{
    long result = begin_mask(call, (const uint64_t *)call->a[4], (uint64_t)call->a[5]);

    return result != 0 ? result : epoll_until(call, milliseconds_deadline(call, (int)call->a[3]));
}

long sys_epoll_pwait2(struct call *call)
{
    int64_t deadline;
    long result =
        clock_read_deadline(call->thread, CLOCK_MONOTONIC, (const struct kernel_timespec *)call->a[3], false, &deadline);

    if (result == 0)
        result = begin_mask(call, (const uint64_t *)call->a[4], (uint64_t)call->a[5]);
    return result != 0 ? result : epoll_until(call, deadline);
}

/* An epoll instance of the application must not watch descriptors of the shim. */
long sys_epoll_ctl(struct call *call)
{
    long result;

    if (descriptor_is_ours(call, call->a[0]) || descriptor_is_ours(call, call->a[2]))
        return -EBADF;
    result = NATIVE(epoll_ctl, call->a[0], call->a[1], call->a[2], call->a[3]);
    if (result == 0) {
        epoll_remember_terminal(call);
        epoll_remember_edge(call);
        if (call->thread->process->watches.exclusive_count > 0 || call->a[1] == EPOLL_CTL_ADD)
            epoll_remember_exclusive(call);
    }
    return result;
}
