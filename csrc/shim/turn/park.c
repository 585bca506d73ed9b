/* Gives the turn back: without any message if no other thread can run, to another thread of the process, or to the
 * server.
 *
 * The invariant: a thread runs only while it has the turn, which it gets by the word in its slot or by a reply of the
 * server. After the message or the word that gives the turn away, a thread touches no shared memory before the turn has
 * come back. */
#include "shared/slots.h"
#include "shim/core/channel.h"
#include "shim/turn/tracee.h"
#include "shim/strace/tracing.h"
#include "shim/turn/turn.h"

/* By how much a timed wait of a charged or modelled thread ends after its deadline. Linux lets a wait be late by 50 us
 * (PR_SET_TIMERSLACK in prctl(2)), and to wake a thread takes time, too: on two cores of a virtual AMD EPYC usleep(3)
 * came back
 * 100 us late in the median. A daemon that sleeps for 0.1 s ten times falls behind a clock by 1 ms each second. */
#define LATE_NS 100000

/* Move the clock to a thread's deadline without the server, and return true, if no other thread can run before
 * `lookahead_ns`, this turn has made no thread ready, and the deadline is earlier. */
bool advance_alone(struct thread *thread, const struct wait *wait)
{
    struct simunix_clock_page *page = thread->process->page;

    if (wait->deadline == NEVER || (uint64_t)wait->deadline >= page->lookahead_ns || page->may_have_woken != 0 ||
        !handoff_alone(thread, (uint64_t)wait->deadline))
        return false;
    if ((uint64_t)wait->deadline > page->now_ns)
        page->now_ns = (uint64_t)wait->deadline;
    page->quantum_ns = page->now_ns + SIMUNIX_QUANTUM_NS;
    page->local_sleeps++;
    thread->pace.births = 0;
    return true;
}

/* Wait until the turn comes, from the server or from another thread. Returns the reason of the wake; `value` gets the
 * value that came with it. */
enum simunix_wake slot_wait(struct thread *thread, int64_t *value)
{
    const struct simunix_slot *slot = slot_sleep(thread);

    handoff_remove(thread);
    thread->link.has_turn = true;
    threads_reap(thread->process);
    *value = slot->value;
    return (enum simunix_wake)slot->wake;
}

/* Ask for an operation of Remote SimGrid. The answer comes when the operation is done: over the channel, or in the
 * thread's box and at its slot. */
static enum simunix_wake ask_operation(struct call *call, struct wait *wait)
{
    if (wait->box == NULL)
        return (enum simunix_wake)request_call(call->thread, wait->request, wait->reply);
    box_post(call->thread, wait->box);
    return slot_wait(call->thread, &wait->value);
}

/* Give the turn back by a message over the channel, for a thread without a slot, and wait for the answer there. */
static enum simunix_wake park_at_channel(struct call *call, struct wait *wait, uint64_t blocked)
{
    struct thread *thread = call->thread;
    struct msgpack_writer writer;
    struct reply reply;

    request_start(thread, &writer, OP_PARK);
    msgpack_put_int(&writer, wait->kind);
    msgpack_put_int(&writer, call->number);
    msgpack_put_int(&writer, wait->deadline);
    msgpack_put_uint(&writer, blocked);
    msgpack_put_uint(&writer, wait->a);
    msgpack_put_uint(&writer, wait->b);
    msgpack_put_uint(&writer, wait->c);
    thread->process->handoffs.waiters_elsewhere++;
    request_call(thread, &writer, &reply);
    thread->process->handoffs.waiters_elsewhere--;
    wait->value = reply_number(&reply, 1);
    return (enum simunix_wake)reply.status;
}

/* Give the turn back by a message to the server, and wait. Returns the reason for which the thread was woken. */
static enum simunix_wake ask_to_park(struct call *call, struct wait *wait, uint64_t blocked)
{
    struct thread *thread = call->thread;

    if (wait->kind == PARK_RSG)
        return ask_operation(call, wait);
    if (thread->link.slot == 0)
        return park_at_channel(call, wait, blocked);
    if (thread->link.owes_hello)
        say_hello_late(thread);
    outbox_of(thread)->park = (struct simunix_park){.wait = wait->kind,
                                                    .syscall = (int32_t)call->number,
                                                    .deadline = wait->deadline,
                                                    .blocked = blocked,
                                                    .a = wait->a,
                                                    .b = wait->b,
                                                    .c = wait->c,
                                                    .by_handoff = wait->by_handoff};
    if (wait->by_handoff) /* this comes now, since the thread that has the turn next reads the list */
        handoff_add(thread, wait, call->number, blocked);
    outbox_send(thread, ASKED_TO_PARK);
    return slot_wait(thread, &wait->value);
}

/* Return the signals that do not end the wait. A signalfd becomes readable by blocked signals, and only its owner can
 * find out that it is readable. So for a process with a signalfd the mask has the bit of SIGSYS, a signal that no
 * application blocks: the bit tells the server to wake the thread for any signal. */
static uint64_t blocked_signals(const struct call *call)
{
    return call->thread->process->has_signalfd ? call->mask | SIGNAL_BIT(SIGSYS) : signals_strip(call->mask);
}

static bool is_charge(const struct wait *wait)
{
    return wait->kind == PARK_CHARGE || wait->kind == PARK_CHARGE_REST;
}

static enum simunix_wake wait_for_turn(struct call *call, struct wait *wait)
{
    struct thread *thread = call->thread;
    uint64_t waited_for = wait->kind == PARK_SIGNAL ? wait->a : 0;
    enum simunix_wake wake;

    wait->value = 0;
    if (wait->kind != PARK_YIELD && wait->kind != PARK_PREEMPTED && !is_charge(wait))
        clock_forget_asking(thread);
    if (advance_alone(thread, wait))
        return WAKE_TIMEOUT;
    thread->park.mask = (call->mask == SIGNALS_ALL ? call->mask_before : call->mask) & ~waited_for;
    thread->park.is_parked = true;
    if (!handoff_park(call, wait, &wake)) {
        if (call->trace != NULL)
            strace_waits(call);
        wake = ask_to_park(call, wait, blocked_signals(call));
    }
    thread->park.is_parked = false;
    if (is_charge(wait)) /* this comes now, since the handler of a signal that has come meanwhile makes calls, too */
        charge_passed(thread, wake, wait->value);
    if (thread->delivery.handed != 0)
        signals_take_handed(thread);
    if (wake == WAKE_TIMEOUT)
        thread->pace.births = 0;
    if (__builtin_expect(thread->process->page->trace_news != 0, 0))
        tracee_look(thread);
    if (thread->in_call.acts) /* a new turn begins in the same call */
        thread->process->page->may_have_woken = 1;
    thread->in_call.has_waited = true;
    return wake;
}

/* Give the turn back, and wait until something of `wait` happens. Descriptors to wait for must be in the private epoll
 * already. */
enum simunix_wake park(struct call *call, struct wait *wait)
{
    int64_t deadline = wait->deadline;
    enum simunix_wake wake;

    if (__builtin_expect(!call->thread->policy.is_charged, 1)) {
        if (__builtin_expect((call->thread->process->flags & HELLO_FLAG_LATE) != 0, 0))
            wait->deadline = later(call->thread, deadline);
        wake = wait_for_turn(call, wait);
        wait->deadline = deadline;
        return wake;
    }
    if (deadline != NEVER)
        wait->deadline += LATE_NS;
    if (call->thread->policy.is_measured)
        charge_turn_ends(call->thread);
    wake = wait_for_turn(call, wait);
    if (call->thread->policy.is_measured)
        charge_turn_begins(call->thread);
    if (wait->kind != PARK_CHARGE && wait->kind != PARK_CHARGE_REST)
        call->thread->charge.waited_ns = call->thread->charge.paid_ns;
    wait->deadline = deadline;
    return wake;
}
