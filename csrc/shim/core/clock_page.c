/* Virtual time as the applications read it: from the shared page, without a message.
 *
 * Every read costs a little virtual time, so that loops that wait for the clock to change come to an end; a reader that
 * passes something due lets it happen first.
 */
#include "shim.h"

enum clock_kind { CLOCK_KIND_REAL = 1, CLOCK_KIND_MONOTONIC, CLOCK_KIND_CPU };

static const uint8_t clock_kinds[12] = {
    [CLOCK_REALTIME] = CLOCK_KIND_REAL,
    [CLOCK_MONOTONIC] = CLOCK_KIND_MONOTONIC,
    [CLOCK_PROCESS_CPUTIME_ID] = CLOCK_KIND_CPU,
    [CLOCK_THREAD_CPUTIME_ID] = CLOCK_KIND_CPU,
    [CLOCK_MONOTONIC_RAW] = CLOCK_KIND_MONOTONIC,
    [CLOCK_REALTIME_COARSE] = CLOCK_KIND_REAL,
    [CLOCK_MONOTONIC_COARSE] = CLOCK_KIND_MONOTONIC,
    [CLOCK_BOOTTIME] = CLOCK_KIND_MONOTONIC,
    [CLOCK_REALTIME_ALARM] = CLOCK_KIND_REAL,
    [CLOCK_BOOTTIME_ALARM] = CLOCK_KIND_MONOTONIC,
    [11] = CLOCK_KIND_REAL, /* CLOCK_TAI; no leap seconds here */
};

/* Negative ids are CPU clocks of some process or thread: (~pid << 3 | kind), see clock_getcpuclockid(3). */
static enum clock_kind kind_of(int clock_id)
{
    if (clock_id < 0)
        return CLOCK_KIND_CPU;
    return clock_id < 12 ? clock_kinds[clock_id] : 0;
}

bool clock_is_known(int clock_id)
{
    return kind_of(clock_id) != 0;
}

bool clock_is_cpu(int clock_id)
{
    return kind_of(clock_id) == CLOCK_KIND_CPU;
}

/* Let what is due happen. May be called from the vDSO replacements, where signals are not blocked. */
static void yield_to_events(struct thread *thread)
{
    uint64_t all = SIGNALS_ALL;
    uint64_t before;
    struct call call = {.number = __NR_sched_yield, .thread = thread};
    struct wait wait = {.kind = PARK_YIELD, .deadline = NEVER};

    NATIVE(rt_sigprocmask, SIG_SETMASK, &all, &before, 8);
    call.mask = SIGNALS_ALL;
    park(&call, &wait);
    signals_stop_if_due(thread, before);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
}

/* Who asks on and on without ever waiting pays more: a program that spins until a clock has gone on does in reality more
 * between two looks than looking, and would spin here for much longer than in reality. */
#define PATIENCE 20000
#define IMPATIENT_FACTOR 10

/* And a little more, so that the price has no factor in common with 1000: a pair of looks that fits into a microsecond a whole
 * number of times would otherwise never see it change between them. */
#define IMPATIENT_ODD_NS 7

/* Who has just got the turn makes some calls before it is broken off by what has become due meanwhile, which is late by no more than
 * a timer of Linux's may be (PR_SET_TIMERSLACK). Most turns are over by then: of a hundred daemons that are asked at one moment each
 * would otherwise be broken off by the arrival of what the next one is asked. */
#define CALLS_BEFORE_EVENTS 128
#define SLACK_NS 50000

static void charge(struct thread *thread, uint64_t cost_ns)
{
    struct simunix_clock_page *page = thread->process->page;
    uint64_t slack_ns;

    page->now_ns += ++thread->asked > PATIENCE ? IMPATIENT_FACTOR * cost_ns + IMPATIENT_ODD_NS : cost_ns;
    slack_ns = thread->asked > CALLS_BEFORE_EVENTS ? 0 : SLACK_NS;
    if (page->now_ns >= page->event_ns + slack_ns || (page->may_have_woken != 0 && page->now_ns >= page->quantum_ns))
        yield_to_events(thread);
}

uint64_t clock_now(struct thread *thread)
{
    struct simunix_clock_page *page = thread->process->page;

    page->clock_reads++;
    charge(thread, page->read_cost_ns);
    return page->now_ns;
}

/* Under the free CPU policy computing takes no time: a CPU clock counts what its own readings and polls have cost all. */
static int64_t cpu_time(struct thread *thread)
{
    struct simunix_clock_page *page = thread->process->page;

    return (int64_t)(page->clock_reads * page->read_cost_ns);
}

/* Value of a known clock in nanoseconds. */
int64_t clock_read(struct thread *thread, int clock_id)
{
    struct simunix_clock_page *page = thread->process->page;
    uint64_t now = clock_now(thread);

    switch (kind_of(clock_id)) {
    case CLOCK_KIND_REAL:
        return (int64_t)now + page->realtime_ns;
    case CLOCK_KIND_CPU:
        return cpu_time(thread);
    default:
        return (int64_t)now + page->monotonic_ns;
    }
}

bool is_valid_time(const struct kernel_timespec *time)
{
    return time->seconds >= 0 && time->nanoseconds >= 0 && time->nanoseconds < SECOND_NS;
}

/* CLOCK_REALTIME and its kin. */
bool clock_is_real(int clock_id)
{
    return kind_of(clock_id) == CLOCK_KIND_REAL;
}

/* Now plus a duration, saturating: what lies 292 years ahead is never. */
int64_t clock_after(struct thread *thread, int64_t duration_ns)
{
    int64_t deadline;

    if (__builtin_add_overflow((int64_t)thread->process->page->now_ns, duration_ns, &deadline))
        return NEVER;
    return deadline;
}

/* The moment of virtual time that a valid timespec means on a clock. */
int64_t clock_deadline(struct thread *thread, int clock_id, const struct kernel_timespec *time, bool absolute)
{
    struct simunix_clock_page *page = thread->process->page;
    int64_t value;

    if (__builtin_mul_overflow(time->seconds, SECOND_NS, &value) ||
        __builtin_add_overflow(value, time->nanoseconds, &value))
        return NEVER;
    if (!absolute)
        return clock_after(thread, value);
    value -= kind_of(clock_id) == CLOCK_KIND_REAL ? page->realtime_ns : page->monotonic_ns;
    return value < 0 ? 0 : value;
}

/* The price of asking without waiting, so that loops that only poll come to an end. Signals are blocked here. */
void clock_charge_poll(struct call *call)
{
    charge(call->thread, call->thread->process->page->poll_cost_ns);
}

/* The price of any trapped call. */
void clock_charge_call(struct call *call)
{
    charge(call->thread, call->thread->process->page->call_cost_ns);
}
