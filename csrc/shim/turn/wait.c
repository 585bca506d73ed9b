/* Giving the turn back, and the one loop of every call that waits: try, give the turn back, try again. */
#include "shim.h"
#include "slots.h"

/* Nobody else can run before `lookahead_ns`, and this turn has made nobody ready: a deadline before it is reached without
 * asking the server. */
static bool advance_alone(struct thread *thread, const struct wait *wait)
{
    struct simunix_clock_page *page = thread->process->page;

    if (wait->deadline == NEVER || (uint64_t)wait->deadline >= page->lookahead_ns || page->may_have_woken != 0 ||
        !handoff_alone(thread, (uint64_t)wait->deadline))
        return false;
    if ((uint64_t)wait->deadline > page->now_ns)
        page->now_ns = (uint64_t)wait->deadline;
    page->quantum_ns = page->now_ns + SIMUNIX_QUANTUM_NS;
    page->local_sleeps++;
    return true;
}

/* Where namespaces do not end us with the server, somebody must look now and then whether it is there. */
static const struct kernel_timespec *patience(const struct process *process)
{
    static const struct kernel_timespec second = {1, 0};

    return process->flags & HELLO_FLAG_FAKE_NAME ? &second : NULL;
}

/* Wait until the turn comes, from the server or from whoever had it. */
enum simunix_wake slot_wait(struct thread *thread, int64_t *value)
{
    struct simunix_slot *slot = slot_at(thread->process->page, thread->slot);

    while (__atomic_load_n(&slot->word, __ATOMIC_ACQUIRE) == SLOT_WAITS)
        if (NATIVE(futex, &slot->word, FUTEX_WAIT, SLOT_WAITS, patience(thread->process)) == -ETIMEDOUT)
            channel_check(thread);
    slot->word = SLOT_WAITS;
    handoff_remove(thread);
    thread->has_turn = true;
    threads_bury(thread->process);
    *value = slot->value;
    return (enum simunix_wake)slot->wake;
}

void slot_hand_over(const struct process *process, uint32_t number, enum simunix_wake wake)
{
    struct simunix_slot *slot = slot_at(process->page, number);

    slot->wake = wake;
    slot->value = 0;
    __atomic_store_n(&slot->word, SLOT_ANSWERED, __ATOMIC_RELEASE);
    NATIVE(futex, &slot->word, FUTEX_WAKE, 1);
}

/* The request by which a thread gives the turn back, and its outcome. */
static enum simunix_wake ask_to_park(struct call *call, struct wait *wait, uint64_t blocked)
{
    struct thread *thread = call->thread;
    struct msgpack_writer writer;
    struct reply reply;

    request_start(thread, &writer, thread->slot != 0 ? OP_PARK_AT_SLOT : OP_PARK, thread->slot != 0 ? 8 : 7);
    msgpack_put_int(&writer, wait->kind);
    msgpack_put_int(&writer, call->number);
    msgpack_put_int(&writer, wait->deadline);
    msgpack_put_uint(&writer, blocked);
    msgpack_put_uint(&writer, wait->a);
    msgpack_put_uint(&writer, wait->b);
    msgpack_put_uint(&writer, wait->c);
    if (thread->slot == 0) {
        thread->process->waiters_elsewhere++;
        request_call(thread, &writer, &reply);
        thread->process->waiters_elsewhere--;
        wait->value = reply_number(&reply, 1);
        return (enum simunix_wake)reply.status;
    }
    msgpack_put_int(&writer, wait->steps);
    if (wait->steps) /* now: who has the turn next looks for us in the list */
        handoff_add(thread, wait, call->number, blocked);
    request_post(thread, &writer);
    return slot_wait(thread, &wait->value);
}

/* A signalfd becomes readable by signals that are blocked, and only its owner can ask: wake for any, says the bit of the one
 * signal that is in no mask. */
static uint64_t blocked_signals(const struct call *call)
{
    return call->thread->process->has_signalfd ? call->mask | SIGNAL_BIT(SIGSYS) : signals_strip(call->mask);
}

/* Give the turn back until something of `wait` happens. Descriptors to wait for are in the private epoll already. */
enum simunix_wake park(struct call *call, struct wait *wait)
{
    struct thread *thread = call->thread;
    enum simunix_wake wake;

    wait->value = 0;
    if (wait->kind != PARK_YIELD && wait->kind != PARK_PREEMPTED)
        thread->asked = 0;
    if (advance_alone(thread, wait))
        return WAKE_TIMEOUT;
    if (!handoff_park(call, wait, &wake)) {
        if (call->trace != NULL)
            strace_waits(call);
        wake = ask_to_park(call, wait, blocked_signals(call));
    }
    if (thread->acts) /* a new turn, the same call */
        thread->process->page->may_have_woken = 1;
    thread->has_waited = true;
    return wake;
}

/* A signal that came when this thread had given the turn back, but was to run anyhow (woken already, or held up on its way into
 * the call by what was due), was news to nobody: before it waits again it looks itself. 0, or how the call ends. */
static long look_before_waiting_again(struct call *call, bool restarts)
{
    enum interruption what = call->thread->has_waited ? signals_check(call) : INTERRUPT_NONE;

    return what == INTERRUPT_NONE ? 0 : signals_interrupt(call, what, restarts);
}

/* Park; a signal with something to deliver ends the call: -EINTR or -ERESTART_CALL. Else a WAKE_ code. */
long wait_on(struct call *call, struct wait *wait, bool restarts)
{
    for (;;) {
        long ended = look_before_waiting_again(call, restarts);
        enum simunix_wake wake;
        enum interruption what;

        if (ended != 0)
            return ended;
        wake = park(call, wait);
        if (wake != WAKE_SIGNAL)
            return wake;
        what = signals_check(call);
        if (what != INTERRUPT_NONE) {
            long result = signals_interrupt(call, what, restarts);

            if (result != 0)
                return result;
        }
        /* Only the kernel knows what has become ready meanwhile, only the caller how much less is left: it asks again. */
        if (call->thread->process->has_signalfd || wait->kind == PARK_CHILD || wait->kind == PARK_FD ||
            wait->kind == PARK_COMPUTE)
            return WAKE_READY;
    }
}

static void epoll_prepare(struct thread *thread)
{
    struct reply reply;

    if (thread->epoll >= 0)
        return;
    if (ASK(thread, &reply, OP_EPOLL) != 0 || reply.fd < 0)
        fatal("the server gave no epoll descriptor", NULL, reply.status);
    thread->epoll = descriptor_hide(reply.fd, thread->process->descriptor_floor);
}

/* All events that the entries up to `last` want of one descriptor: epoll takes a descriptor once, poll many times. */
static uint32_t wanted_events(const struct pollfd *fds, unsigned last)
{
    uint32_t events = 0;

    for (unsigned i = 0; i <= last; i++)
        if (fds[i].fd == fds[last].fd)
            events |= (uint16_t)fds[i].events;
    return events;
}

/* Put the descriptors into the private epoll. What epoll refuses (EPERM) never changes: a regular file that was not ready when
 * asked just now never will be. */
static void epoll_fill(struct thread *thread, const struct pollfd *fds, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct epoll_event event = {.events = wanted_events(fds, i), .data = (uint64_t)fds[i].fd};
        long result;

        if (fds[i].fd < 0)
            continue;
        result = NATIVE(epoll_ctl, thread->epoll, EPOLL_CTL_ADD, fds[i].fd, &event);
        if (result == -EEXIST)
            result = NATIVE(epoll_ctl, thread->epoll, EPOLL_CTL_MOD, fds[i].fd, &event);
        if (result != 0 && result != -EPERM && result != -EBADF)
            fatal("epoll_ctl refused a descriptor", syscall_name(__NR_epoll_ctl), result);
    }
}

static void epoll_empty(struct thread *thread, const struct pollfd *fds, unsigned count)
{
    struct epoll_event event = {0};

    for (unsigned i = 0; i < count; i++)
        if (fds[i].fd >= 0)
            NATIVE(epoll_ctl, thread->epoll, EPOLL_CTL_DEL, fds[i].fd, &event);
}

/* Wait until one of the descriptors has one of its events (or an error), or the deadline: WAKE_READY, WAKE_TIMEOUT, or the
 * result of an interruption. The caller has found none ready just now, and asks the kernel again afterwards. */
long wait_polled(struct call *call, struct pollfd *fds, unsigned count, int64_t deadline, bool restarts)
{
    struct wait wait = {.kind = PARK_FD, .deadline = deadline, .a = count > 0 ? (uint64_t)fds[0].fd : ~0UL, .b = count};
    long result;

    if (count == 0) {
        wait.kind = PARK_TIME;
        wait.steps = true;
    }
    result = look_before_waiting_again(call, restarts);
    if (result != 0)
        return result;
    if (advance_alone(call->thread, &wait)) {
        call->thread->asked = 0;
        return WAKE_TIMEOUT;
    }
    epoll_prepare(call->thread);
    epoll_fill(call->thread, fds, count);
    for (unsigned i = 0; i < count && wait.c == 0; i++)
        wait.c = fds[i].fd >= 0 && terminal_of_master(fds[i].fd) >= 0;
    wait.c |= (uint64_t)call->thread->epoll << 8;
    result = wait_on(call, &wait, restarts);
    epoll_empty(call->thread, fds, count);
    signalfd_refresh(call->thread);
    return result;
}

/* Wait until something happens to a descriptor that is ready already: an edge, not a level. */
long wait_changed(struct call *call, int fd, short events, int64_t deadline, bool restarts)
{
    struct wait wait = {.kind = PARK_FD, .deadline = deadline, .a = (uint64_t)fd, .b = 1};
    struct epoll_event event = {.events = (uint16_t)events | EPOLLET, .data = (uint64_t)fd};
    struct epoll_event seen;
    long result;

    epoll_prepare(call->thread);
    result = NATIVE(epoll_ctl, call->thread->epoll, EPOLL_CTL_ADD, fd, &event);
    if (result != 0)
        return result;
    NATIVE(epoll_wait, call->thread->epoll, &seen, 1, 0); /* takes what is so already */
    wait.c = (uint64_t)call->thread->epoll << 8;
    result = wait_on(call, &wait, restarts);
    NATIVE(epoll_ctl, call->thread->epoll, EPOLL_CTL_DEL, fd, &event);
    return result;
}

bool is_nonblocking(int fd)
{
    long flags = NATIVE(fcntl, fd, F_GETFL, 0);

    return flags < 0 || (flags & O_NONBLOCK) != 0;
}

/* Would the kernel answer at once, although poll says that nothing is ready: non-blocking, or opened the other way round? */
static bool answers_at_once(int fd, short events)
{
    long flags = NATIVE(fcntl, fd, F_GETFL, 0);
    int mode = (int)(flags & O_ACCMODE);

    if (flags < 0 || (flags & O_NONBLOCK) != 0)
        return true;
    return (events == POLLOUT && mode == O_RDONLY) || (events == POLLIN && mode == O_WRONLY);
}

/* SO_RCVTIMEO or SO_SNDTIMEO of a socket as a deadline; NEVER if unset or no socket. */
int64_t socket_deadline(struct call *call, int fd, int option)
{
    struct kernel_timespec timeout = {0, 0}; /* here a timeval: microseconds in the second member */
    uint32_t length = sizeof timeout;

    if (option == 0 || NATIVE(getsockopt, fd, SOL_SOCKET_LEVEL, option, &timeout, &length) != 0)
        return NEVER;
    if (timeout.seconds == 0 && timeout.nanoseconds == 0)
        return NEVER;
    return clock_after(call->thread, timeout.seconds * SECOND_NS + timeout.nanoseconds * 1000);
}

/* Wait until a call on `fd` would not wait: 0 then, or if the descriptor is non-blocking (the kernel gives the answer).
 * -EAGAIN when the socket's own timeout passes. */
long wait_ready(struct call *call, int fd, short events, int timeout_option)
{
    struct pollfd entry = {.fd = fd, .events = events};
    int64_t deadline;

    if (NATIVE(poll, &entry, 1, 0) != 0)
        return (entry.revents & POLLERR) && events == POLLOUT ? socket_pending_error(call, fd) : 0;
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
