/* Waiting for descriptors: each thread has a private epoll, which the server watches while the thread waits.
 *
 * Only one thread runs at a time, so the result of a poll is still valid when the call itself is made.
 */
#include "shared/syscall_names.h"
#include "shim/core/channel.h"
#include "shim/core/clock.h"
#include "shim/core/fd_kind.h"
#include "shim/turn/turn.h"

static void epoll_prepare(struct thread *thread)
{
    struct reply reply;

    if (thread->link.epoll >= 0)
        return;
    descriptors_raise();
    if (ASK(thread, &reply, OP_EPOLL) != 0 || reply.fd < 0)
        fatal("the server gave no epoll descriptor", NULL, reply.status);
    thread->link.epoll = descriptor_hide(thread->process, reply.fd);
    descriptors_limit(thread->process);
}

/* Return the descriptor of the thread's private epoll. */
static int epoll_of(const struct thread *thread)
{
    return descriptor_number(thread->process, thread->link.epoll);
}

/* Return all events that the entries up to `last` ask for of one descriptor: epoll takes a descriptor once, poll(2)
 * several times. */
static uint32_t wanted_events(const struct pollfd *fds, unsigned last)
{
    uint32_t events = 0;

    for (unsigned i = 0; i <= last; i++)
        if (fds[i].fd == fds[last].fd)
            events |= (uint16_t)fds[i].events;
    return events;
}

/* Put the descriptors into the private epoll. A descriptor that epoll refuses (EPERM) never becomes ready: such a
 * descriptor is a regular file that was not ready just now. */
static void epoll_fill(struct thread *thread, const struct pollfd *fds, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct epoll_event event = {.events = wanted_events(fds, i), .data = (uint64_t)fds[i].fd};
        long result;

        if (fds[i].fd < 0)
            continue;
        result = NATIVE(epoll_ctl, epoll_of(thread), EPOLL_CTL_ADD, fds[i].fd, &event);
        if (result == -EEXIST)
            result = NATIVE(epoll_ctl, epoll_of(thread), EPOLL_CTL_MOD, fds[i].fd, &event);
        if (result != 0 && result != -EPERM && result != -EBADF)
            fatal("epoll_ctl refused a descriptor", syscall_name(__NR_epoll_ctl), result);
    }
}

static void epoll_empty(struct thread *thread, const struct pollfd *fds, unsigned count)
{
    struct epoll_event event = {0};

    for (unsigned i = 0; i < count; i++)
        if (fds[i].fd >= 0)
            NATIVE(epoll_ctl, epoll_of(thread), EPOLL_CTL_DEL, fds[i].fd, &event);
}

/* When the server looks at a private epoll, the kernel asks a signalfd in it whether the *server* has signals, and strikes the
 * signalfd off the epoll's ready list. Setting the mask of any signalfd wakes the queue of all signalfds of this process, which
 * puts them back: so the shim uses a signalfd that it has made for this purpose, and need not know the signalfds of the
 * application, which may be passed or duplicated. */
static void signalfd_refresh(struct thread *thread)
{
    uint64_t nothing = 0;
    long fd;

    if (!thread->process->has_signalfd)
        return;
    fd = NATIVE(signalfd4, -1, &nothing, sizeof nothing, O_CLOEXEC);
    if (fd < 0)
        return;
    NATIVE(signalfd4, fd, &nothing, sizeof nothing, 0);
    NATIVE(close, fd);
}

static long wait_in_epoll(struct call *call, struct pollfd *fds, unsigned count, struct wait *wait, bool restarts)
{
    long result = look_before_waiting_again(call, restarts);

    if (result != 0)
        return result;
    if (advance_alone(call->thread, wait)) {
        clock_forget_asking(call->thread);
        return WAKE_TIMEOUT;
    }
    epoll_prepare(call->thread);
    epoll_fill(call->thread, fds, count);
    for (unsigned i = 0; i < count && (wait->c & PARK_FD_TERMINAL) == 0; i++)
        wait->c |= fds[i].fd >= 0 && terminal_of_master(fds[i].fd) >= 0 ? PARK_FD_TERMINAL : 0;
    wait->c |= (uint64_t)epoll_of(call->thread) << 8;
    result = wait_on(call, wait, restarts);
    epoll_empty(call->thread, fds, count);
    signalfd_refresh(call->thread);
    return result;
}

/* Wait until one of the descriptors has one of its events (or an error), or until the deadline. Returns WAKE_READY,
 * WAKE_TIMEOUT, or the result of an interruption. The caller has found none ready just now, and asks the kernel again
 * afterwards. */
long wait_polled(struct call *call, struct pollfd *fds, unsigned count, int64_t deadline, bool restarts)
{
    struct wait wait = {.kind = PARK_FD, .deadline = deadline, .a = count > 0 ? (uint64_t)fds[0].fd : ~0UL, .b = count};

    if (count == 0) {
        wait.kind = PARK_TIME;
        wait.by_handoff = true;
    }
    return wait_in_epoll(call, fds, count, &wait, restarts);
}

/* Wait as wait_polled does, for an epoll instance that watches a listening socket, or a file of the kernel (`is_file`,
 * then `listener` is its number), with EPOLLEXCLUSIVE. Returns WAKE_ELSEWHERE if something is ready, but another waiter
 * was woken for the socket's connections: then the caller ignores these connections, and tells the server so if it
 * waits again. */
long wait_exclusively(struct call *call, struct pollfd *fds, unsigned count, int64_t deadline, int64_t listener, bool is_file,
                      bool looked)
{
    struct wait wait = {.kind = PARK_FD, .deadline = deadline, .a = (uint64_t)fds[0].fd, .b = (uint64_t)listener};

    if (is_file && looked) /* otherwise the kernel has no earlier events to report at the beginning of the wait */
        looked = NATIVE(poll, fds, 1, 0) > 0;
    wait.c = PARK_FD_EXCLUSIVE | (is_file ? PARK_FD_FILE : 0) | (looked ? PARK_FD_LOOKED : 0);
    return wait_in_epoll(call, fds, count, &wait, false);
}

/* Wait until something happens to a descriptor that is ready already: an edge, not a level. */
long wait_changed(struct call *call, int fd, short events, int64_t deadline, bool restarts)
{
    struct wait wait = {.kind = PARK_FD, .deadline = deadline, .a = (uint64_t)fd, .b = 1};
    struct epoll_event event = {.events = (uint16_t)events | EPOLLET, .data = (uint64_t)fd};
    struct epoll_event seen;
    long result;

    epoll_prepare(call->thread);
    result = NATIVE(epoll_ctl, epoll_of(call->thread), EPOLL_CTL_ADD, fd, &event);
    if (result != 0)
        return result;
    NATIVE(epoll_wait, epoll_of(call->thread), &seen, 1, 0); /* removes the events that exist already */
    wait.c = (uint64_t)epoll_of(call->thread) << 8;
    result = wait_on(call, &wait, restarts);
    NATIVE(epoll_ctl, epoll_of(call->thread), EPOLL_CTL_DEL, fd, &event);
    return result;
}

bool is_nonblocking(int fd)
{
    long flags = NATIVE(fcntl, fd, F_GETFL, 0);

    return flags < 0 || (flags & O_NONBLOCK) != 0;
}

/* Return whether the kernel would answer at once although poll(2) says that nothing is ready: the descriptor is
 * non-blocking, or opened for the other direction. */
static bool answers_at_once(int fd, short events)
{
    long flags = NATIVE(fcntl, fd, F_GETFL, 0);
    int mode = (int)(flags & O_ACCMODE);

    if (flags < 0 || (flags & O_NONBLOCK) != 0)
        return true;
    return (events == POLLOUT && mode == O_RDONLY) || (events == POLLIN && mode == O_WRONLY);
}

/* Return SO_RCVTIMEO or SO_SNDTIMEO of a socket as a deadline; NEVER if it is not set, or if this is no socket. */
int64_t socket_deadline(struct call *call, int fd, int option)
{
    struct kernel_timespec timeout = {0, 0}; /* the option is a timeval, with microseconds in the second member */
    uint32_t length = sizeof timeout;

    if (option == 0 || NATIVE(getsockopt, fd, SOL_SOCKET_LEVEL, option, &timeout, &length) != 0)
        return NEVER;
    if (timeout.seconds == 0 && timeout.nanoseconds == 0)
        return NEVER;
    return clock_after(call->thread, timeout.seconds * SECOND_NS + timeout.nanoseconds * 1000);
}

/* Wait until a call on `fd`, which poll(2) reports as not ready, would not wait. Returns 0 then, or if the descriptor is
 * non-blocking (the kernel gives the answer); -EAGAIN when the socket's own timeout passes. `timeout_option` is 0 for a
 * descriptor that is no socket. */
long wait_blocked(struct call *call, int fd, short events, int timeout_option)
{
    struct pollfd entry = {.fd = fd, .events = events};
    int64_t deadline;

    if (answers_at_once(fd, events))
        return 0;
    deadline = socket_deadline(call, fd, timeout_option);
    for (;;) {
        long result = wait_polled(call, &entry, 1, deadline, deadline == NEVER);

        if (result < 0)
            return result;
        if (NATIVE(poll, &entry, 1, 0) != 0)
            return 0;
        if (result == WAKE_TIMEOUT)
            return -EAGAIN;
    }
}

/* Wait as wait_blocked does, for a descriptor that may be ready. Returns WAIT_ERROR if it can be written to because it
 * has an error to report. */
long wait_ready(struct call *call, int fd, short events, int timeout_option)
{
    struct pollfd entry = {.fd = fd, .events = events};

    if (NATIVE(poll, &entry, 1, 0) != 0)
        return (entry.revents & POLLERR) != 0 && events == POLLOUT ? WAIT_ERROR : 0;
    return wait_blocked(call, fd, events, timeout_option);
}
