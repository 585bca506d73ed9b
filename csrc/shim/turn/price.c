/* Charges the price of clock reads and calls, and gives the turn back if the price moves the clock past a due
 * event.
 *
 * Every read and every call costs a little virtual time, so that loops that wait for the clock to change come to an
 * end. A thread that reads a time after a due event lets the event happen first.
 *
 * The invariant: `event_ns` is the earliest of three moments: the timer queue's first deadline, `lookahead_ns`, and the
 * end of the turn's quantum while other threads of the process are ready. `now_ns` exceeds `event_ns` by the price of a
 * few calls at most (SLACK_NS); then the turn is given back. */
#include "shim/core/clock.h"
#include "shim/turn/turn.h"

/* Give the turn back, so that due events happen. */
static void yield_to_events(struct thread *thread)
{
    struct wait wait = {.kind = PARK_YIELD, .deadline = NEVER};

    give_turn_back(thread, &wait);
}

/* A thread that asks on and on without ever waiting pays more: a program that spins until a clock has gone on also
 * computes between two reads. This computing takes no virtual time, so the program would spin here for much longer than
 * on a real computer. */
#define IMPATIENT_FACTOR 10

/* Added to the higher price, so that the price has no factor in common with 1000. Otherwise, if a whole number of pairs
 * of reads fits into a microsecond, no pair would ever see the microsecond change between its two reads. */
#define IMPATIENT_ODD_NS 7

/* A thread that has just got the turn may make some calls before a due event ends the turn; the event is then no later
 * than a timer of Linux may be (PR_SET_TIMERSLACK). Most turns are over by then. Otherwise, if a hundred daemons get a
 * request at one moment, the arrival of the next daemon's request would end the turn of each. */
#define CALLS_BEFORE_EVENTS 128
#define SLACK_NS 50000

/* A thread that has polled some times in vain spins until another one has done something. Such a thread gives the turn
 * back long before its quantum is over if other threads can run, or may have become able to run by its actions: on real
 * computers, peers that poll on different hosts poll at the same time, so none may have to wait for the others'
 * spinning. The time that the thread may spin grows with the number of its polls, as turns cost real time. */
#define LOOKS_BEFORE_SPINNING 8
#define SHORTEST_SHARE_NS 5000
#define LONGEST_SHARE_NS 100000
#define SHARE_OF_A_LOOK_NS 100

static bool spinner_has_had_its_share(const struct thread *thread)
{
    const struct simunix_clock_page *page = thread->process->page;
    uint64_t share_ns = SHARE_OF_A_LOOK_NS * thread->pace.looks;

    if (page->may_have_woken == 0 && page->lookahead_ns != 0 && page->siblings_ready == 0)
        return false;
    if (share_ns < SHORTEST_SHARE_NS)
        share_ns = SHORTEST_SHARE_NS;
    if (share_ns > LONGEST_SHARE_NS)
        share_ns = LONGEST_SHARE_NS;
    return page->now_ns + SIMUNIX_QUANTUM_NS >= page->quantum_ns + share_ns;
}

/* A thread whose computing is charged is never impatient: virtual time passes by its computing. */
static uint64_t price(struct thread *thread, uint64_t cost_ns)
{
    return ++thread->pace.asked > CALLS_BEFORE_IMPATIENCE && !thread->policy.is_charged
               ? IMPATIENT_FACTOR * cost_ns + IMPATIENT_ODD_NS
               : cost_ns;
}

static void charge(struct thread *thread, uint64_t price_ns)
{
    struct simunix_clock_page *page = thread->process->page;
    uint64_t slack_ns;

    page->now_ns += price_ns;
    if (__builtin_expect(thread->policy.is_charged, 0))
        charge_price(thread, price_ns);
    slack_ns = thread->pace.asked > CALLS_BEFORE_EVENTS ? 0 : SLACK_NS;
    if (page->now_ns >= page->event_ns + slack_ns || page->now_ns >= page->slice_ns ||
        (page->may_have_woken != 0 && page->now_ns >= page->quantum_ns) ||
        (thread->pace.looks > LOOKS_BEFORE_SPINNING && spinner_has_had_its_share(thread)))
        yield_to_events(thread);
}

static uint64_t real_cpu_ns(int clock_id)
{
    struct kernel_timespec time = {0};

    NATIVE(clock_gettime, clock_id, &time);
    return (uint64_t)time.seconds * SECOND_NS + (uint64_t)time.nanoseconds;
}

/* Return the CPU time (ns) that a thread has not paid for yet. The server has found that the thread computes and reads
 * the clock without any other call (rsg_server/turn/computing.py), and has stored the CPU clock of the process at that
 * moment; no other thread of the process ran in between. From then on the thread's own CPU clock is used, until the
 * thread waits for something. */
static uint64_t unpaid_cpu_ns(struct thread *thread)
{
    struct simunix_clock_page *page = thread->process->page;
    uint64_t cpu_ns = real_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t unpaid_ns = cpu_ns - thread->pace.cpu_paid_ns;

    if (!thread->pace.pays_cpu)
        unpaid_ns = real_cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - page->computing_since_ns;
    page->computing_slot = 0;
    thread->pace.pays_cpu = true;
    thread->pace.cpu_paid_ns = cpu_ns;
    thread->process->cpu.computed_ns += unpaid_ns;
    return unpaid_ns;
}

static uint64_t clock_now(struct thread *thread, const void *caller)
{
    struct simunix_clock_page *page = thread->process->page;
    uint64_t price_ns = price(thread, page->read_cost_ns);

    if (__builtin_expect(thread->process->storage.look_at_mapped != NULL, 0))
        thread->process->storage.look_at_mapped(thread);
    page->clock_reads++;
    if (__builtin_expect(thread->policy.is_charged, 0))
        charge_look(thread, cost_point_of_read(caller));
    if (__builtin_expect(thread->pace.pays_cpu || (page->computing_slot != 0 && page->computing_slot == thread->link.slot),
                         0)) {
        uint64_t cpu_ns = unpaid_cpu_ns(thread);

        if (cpu_ns > price_ns)
            price_ns = cpu_ns;
    }
    charge(thread, price_ns);
    return page->now_ns;
}

/* Return the value of a CPU clock. Under the CPU policy free, computing takes no time: a CPU clock counts the prices of
 * its own reads and of polls, and any computing that did take time. */
static int64_t cpu_time(struct thread *thread, int clock_id)
{
    struct simunix_clock_page *page = thread->process->page;

    if (thread->policy.is_charged)
        return (int64_t)(clock_id == CLOCK_THREAD_CPUTIME_ID ? thread->charge.paid_ns : thread->process->cpu.computed_ns);
    return (int64_t)(page->clock_reads * page->read_cost_ns + thread->process->cpu.computed_ns);
}

/* Return the value (ns) of a known clock, for a program that reads it at a place of its code. */
int64_t clock_read_from(struct thread *thread, int clock_id, const void *caller)
{
    uint64_t now = clock_now(thread, caller);

    if (clock_is_cpu(clock_id))
        return cpu_time(thread, clock_id);
    return (int64_t)now + clock_offset(thread->process, clock_id);
}

/* Return the value (ns) of a known clock, in the middle of a system call. */
int64_t clock_read(struct thread *thread, int clock_id)
{
    return clock_read_from(thread, clock_id, NULL);
}

/* Charge the price of a call that asks without waiting, so that loops that only poll come to an end. Signals are
 * blocked here. */
void clock_charge_poll(struct call *call)
{
    call->thread->pace.looks++;
    charge(call->thread, price(call->thread, call->thread->process->page->poll_cost_ns));
}

/* Charge the price of a call, which is at least `least_ns`. */
void clock_charge(struct thread *thread, uint64_t cost_ns, uint64_t least_ns)
{
    uint64_t price_ns = price(thread, cost_ns);

    charge(thread, price_ns < least_ns ? least_ns : price_ns);
}

/* Charge a price, whether or not the thread has become impatient. */
void clock_charge_plainly(struct thread *thread, uint64_t price_ns)
{
    thread->pace.asked++;
    charge(thread, price_ns);
}

/* Note that a poll has found something. A thread whose earlier polls had no result has then not spun in vain, and
 * counts as patient again. */
void clock_found(struct thread *thread)
{
    if (thread->pace.looks > 0 && thread->pace.asked > CALLS_BEFORE_EVENTS)
        thread->pace.asked = CALLS_BEFORE_EVENTS + 1;
    thread->pace.looks = 0;
}
