/* The account of a thread whose computing is charged: the CPU time since the last charge, and the prices that have
 * passed.
 *
 * turn/cpu_charge.c explains which clocks are read and what is subtracted; that file decides when a charge is due, and
 * gives the turn back for it. No function of this file gives the turn back, so code that begins or ends a turn may call
 * it. */
#include "shim/core/channel.h"
#include "shim/core/clock.h"
#include "shim/turn/turn.h"

uint64_t thread_cpu_ns(void)
{
    struct kernel_timespec time = {0};

    NATIVE(clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.seconds * SECOND_NS + (uint64_t)time.nanoseconds;
}

void charge_turn_begins(struct thread *thread)
{
    const struct simunix_clock_page *page = thread->process->page;
    struct charge_account *account = &thread->charge;

    account->overhead_since = overhead_ns(page);
    account->now_since = page->now_ns;
    account->cycles_since = cycles_now();
}

void charge_turn_ends(struct thread *thread)
{
    const struct simunix_clock_page *page = thread->process->page;
    struct charge_account *account = &thread->charge;

    account->cycles += cycles_now() - account->cycles_since;
    account->overhead_ns += (int64_t)(overhead_ns(page) - account->overhead_since);
    account->priced_ns += (int64_t)(page->now_ns - account->now_since);
}

/* Begin to measure now: earlier computing does not count. */
void charge_begin(struct thread *thread)
{
    if (!thread->policy.is_measured)
        return;
    thread->charge.cpu_ns = thread_cpu_ns();
    thread->charge.cycles = 0;
    thread->charge.overhead_ns = thread->charge.priced_ns = 0;
    charge_turn_begins(thread);
}

static int64_t nanoseconds_of(const struct simunix_clock_page *page, uint64_t cycles)
{
    return (int64_t)((unsigned __int128)cycles * page->tsc_ns >> 32);
}

/* Return the CPU time (ns) of the cycles in this turn and in former ones since the account was last settled, by the
 * time stamp counter alone. */
int64_t charge_counted_ns(const struct thread *thread)
{
    const struct simunix_clock_page *page = thread->process->page;
    const struct charge_account *account = &thread->charge;
    uint64_t cycles = account->cycles + (cycles_now() - account->cycles_since);
    int64_t added_ns = account->overhead_ns + (int64_t)(overhead_ns(page) - account->overhead_since);

    return nanoseconds_of(page, cycles) - added_ns - account->priced_ns - (int64_t)(page->now_ns - account->now_since);
}

/* Convert the measured cycles since the last call into CPU time to be charged. If the estimated overhead was too high,
 * the difference reduces the next charges, up to a limit. Returns by how much (ns) the counter has exceeded the CPU
 * clock. */
int64_t charge_settle(struct thread *thread)
{
    const struct simunix_clock_page *page = thread->process->page;
    struct charge_account *account = &thread->charge;
    uint64_t before_ns = account->cpu_ns;
    int64_t computed_ns, by_clock_ns, excess_ns;

    charge_turn_ends(thread);
    account->cpu_ns = thread_cpu_ns();
    by_clock_ns = (int64_t)(account->cpu_ns - before_ns);
    computed_ns = nanoseconds_of(page, account->cycles);
    excess_ns = computed_ns > by_clock_ns ? computed_ns - by_clock_ns : 0;
    computed_ns -= excess_ns;
    account->unpaid_ns += computed_ns - account->overhead_ns - account->priced_ns;
    if (account->unpaid_ns < -(int64_t)page->charge_least_ns)
        account->unpaid_ns = -(int64_t)page->charge_least_ns;
    account->cycles = 0;
    account->overhead_ns = account->priced_ns = account->noted_ns = 0;
    charge_turn_begins(thread);
    return excess_ns;
}

/* Count CPU time that passes, as CPU time of the host. */
void charge_count(struct thread *thread, int64_t ns)
{
    thread->charge.paid_ns += (uint64_t)ns;
    thread->process->cpu.computed_ns += (uint64_t)ns;
}

/* Count the price of a call or clock read, which has passed, as CPU time. The server learns of it with the next charge. */
void charge_price(struct thread *thread, uint64_t ns)
{
    charge_count(thread, (int64_t)ns);
    thread->charge.untold_ns += ns;
}

/* Take over the server's answer to a charge, or to the rest of one. */
void charge_passed(struct thread *thread, enum simunix_wake wake, int64_t value)
{
    if (wake != WAKE_REST) {
        thread->charge.next = value;
        return;
    }
    thread->charge.rest_ns = value;
    charge_count(thread, -value);
}
