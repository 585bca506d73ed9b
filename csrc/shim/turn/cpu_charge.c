/* The CPU policy `charged`: what a thread has really computed passes in virtual time before its next call has any effect.
 *
 * At each call and clock read (a point) the thread looks how much it has computed since it was last charged: by the time stamp
 * counter, of which its turns alone count, and if that says enough, by its CPU clock, which does not run while the computer
 * does something else. The smaller of both counts, less what simunix itself has added (calls that trapped, messages), and less
 * the virtual time that the prices of calls have let pass. While the thread waits for an answer of the server no cycles count.
 * The thread then gives the turn back until the server has let as much pass on a core of the host (rsg_server/process/cpu.py),
 * and goes on with its call. If a timer or limit of CPU time expires in the middle of a charge, the thread gets the
 * turn at that moment, takes the signal if it can, and lets the rest pass before it goes on
 * (rsg_server/process/cpu_timers.py). Threads under
 * the CPU policy `modelled` work likewise, but take their costs from a table (turn/cpu_costs.c).
 *
 * The invariant: no call of a thread has an effect before all but charge_least_ns of what was computed before it has passed, or
 * all but a sixteenth of what the thread has computed since it last waited, a millisecond at most, or all but a slice where
 * other threads wait for the core (keeps_on).
 * CPU time that is too short to be charged is added to the next charge.
 */
#include "shim/core/channel.h"
#include "shim/core/clock.h"
#include "shim/turn/turn.h"

#define SELDOM 16
#define SELDOM_MOST_NS 1000000
#define UNTOLD_MOST_NS 10000000 /* how late the CPU time that other threads see of a thread, and its timers, may be */
#define OF_THREAD 0             /* PRIO_PROCESS with number 0: the calling thread, see getpriority(2) */

/* Return 20 minus the nice value, as the kernel does; the nice value of the whole emulation does not count. */
uint64_t raw_nice(const struct process *process)
{
    return (uint64_t)(NATIVE(getpriority, OF_THREAD, 0) + (long)process->page->nice) & CHARGE_NICE;
}

/* Return whether the table of costs decides: for modelled programs, and in a replay that has departed from its recording. */
static bool is_foretold(const struct thread *thread)
{
    return !thread->policy.is_measured || thread->process->page->replays_charges == REPLAY_HAS_DEPARTED;
}

/* Begin to charge a new program. The CPU time to load it was this thread's own, and was not measured by cycles: it is
 * all that the thread has used since its exec. The loading of a first program was begun by simunix itself. */
void charge_image(struct thread *thread, const struct reply *hello)
{
    struct simunix_image_charge told = {.clock_ns = -1, .scale = 1L << 32};

    reply_bytes(hello, 14, &told, sizeof told);
    thread->process->cpu.scale = (uint64_t)told.scale;
    thread->process->cpu.computed_ns = (uint64_t)told.process_ns;
    thread->policy.is_charged = true;
    thread->policy.is_measured = (thread->process->flags & HELLO_FLAG_CHARGED) != 0;
    thread->charge = (struct charge_account){.next = told.next, .paid_ns = (uint64_t)told.thread_ns};
    if (is_foretold(thread)) {
        thread->charge.unpaid_ns = cost_of(thread, SIMUNIX_COST_IMAGE);
    } else if (thread->process->page->replays_charges == REPLAY_NONE && told.clock_ns >= 0) {
        thread->charge.unpaid_ns = (int64_t)thread_cpu_ns() - told.clock_ns;
        cost_add(thread, SIMUNIX_COST_IMAGE, 1, thread->charge.unpaid_ns);
    }
}

/* Return the charge (ns) that is due: the measured time, or in a replay the recorded charge. */
static uint64_t owed_ns(const struct thread *thread)
{
    const struct charge_account *account = &thread->charge;

    if (thread->policy.is_measured && thread->process->page->replays_charges == REPLAY_GOES_ON)
        return (uint64_t)account->next >> CHARGE_NS_SHIFT;
    if (account->unpaid_ns <= 0)
        return 0;
    return account->unpaid_ns < CHARGE_MOST_NS ? (uint64_t)account->unpaid_ns : CHARGE_MOST_NS;
}

/* Let the rest of a charge pass, up to where the next timer expires. */
static void pay_rest(struct thread *thread)
{
    struct wait wait = {.kind = PARK_CHARGE_REST, .deadline = NEVER, .b = raw_nice(thread->process)};

    charge_count(thread, thread->charge.rest_ns);
    thread->charge.rest_ns = 0;
    give_turn_back(thread, &wait);
}

static void pay_rests(struct thread *thread)
{
    while (thread->charge.rest_ns != 0)
        pay_rest(thread);
}

/* Let a charge pass. A thread from which the turn was taken takes signals of timers as soon as it goes on, and pays the
 * rest later. */
static void pay(struct thread *thread, uint64_t flags)
{
    struct charge_account *account = &thread->charge;
    struct wait wait = {.kind = PARK_CHARGE,
                        .deadline = NEVER,
                        .a = owed_ns(thread),
                        .b = account->points << CHARGE_POINT_SHIFT | flags | raw_nice(thread->process),
                        .c = (flags & CHARGE_EXEC) != 0 ? account->cpu_ns : account->untold_ns};

    account->unpaid_ns -= (int64_t)wait.a;
    charge_count(thread, (int64_t)((unsigned __int128)wait.a * thread->process->cpu.scale >> 32));
    account->points = account->untold_ns = 0;
    give_turn_back(thread, &wait);
    if ((flags & CHARGE_PREEMPTED) == 0)
        pay_rests(thread);
}

static bool is_exec(long number)
{
    return number == __NR_execve || number == __NR_execveat;
}

static bool is_end(long number)
{
    return number == __NR_exit || number == __NR_exit_group || is_exec(number);
}

static uint64_t flags_of(long number)
{
    return (is_exec(number) ? CHARGE_EXEC : 0) | (is_end(number) ? CHARGE_END : 0);
}

static bool must_pay(const struct charge_account *account, long number)
{
    return is_end(number) || account->points >= CHARGE_MOST_POINTS || account->untold_ns >= UNTOLD_MOST_NS;
}

/* Return whether the recording has a charge here; see PARK_CHARGE. */
static bool is_due(const struct charge_account *account, uint64_t points, bool is_preempted)
{
    return (account->next & ((1 << CHARGE_NS_SHIFT) - 1)) == (int64_t)(1 + 2 * points + is_preempted);
}

/* Let the charges pass that the recording has up to this point, which is counted already. A charge that was recorded in
 * the middle of computing before this point passes now. */
static void replay(struct thread *thread, long number)
{
    struct charge_account *account = &thread->charge;
    uint64_t flags = flags_of(number);

    while (account->next != 0 && thread->process->page->replays_charges == REPLAY_GOES_ON) {
        if (is_due(account, account->points - 1, true)) {
            account->points--;
            pay(thread, CHARGE_PREEMPTED);
            account->points++;
        } else if (is_due(account, account->points, false)) {
            pay(thread, flags);
        } else {
            break;
        }
    }
    if (account->points != 0 &&
        must_pay(account, number)) { /* every recording has a charge here: the server sees a departure */
        account->next = 0;
        pay(thread, flags);
    }
}

/* Add the CPU time since the last point to the table of costs, for the present point. */
static void note(struct thread *thread, long point)
{
    int64_t counted = charge_counted_ns(thread);

    cost_add(thread, point, 1, counted - thread->charge.noted_ns);
    thread->charge.noted_ns = counted;
}

/* Return how long (ns) a thread may compute before others do: Linux's time slice if all cores of the host are in use,
 * else 0. A recorded charge is positive. */
static int64_t slice_ns(const struct thread *thread)
{
    return thread->charge.next < 0 ? -thread->charge.next : 0;
}

/* Let the time pass that the table of costs has for this point. If it is less than the price of the call, the
 * difference counts against what follows. */
static void foretell(struct thread *thread, long point)
{
    struct charge_account *account = &thread->charge;
    int64_t least_ns = (int64_t)thread->process->page->charge_least_ns;

    account->unpaid_ns += cost_of(thread, point);
    if (account->unpaid_ns < -least_ns)
        account->unpaid_ns = -least_ns;
    if (least_ns < slice_ns(thread))
        least_ns = slice_ns(thread);
    if (account->unpaid_ns >= least_ns || must_pay(account, point))
        pay(thread, flags_of(point));
}

/* A thread that computes for long is charged less often: once a sixteenth of what it has paid since it last waited has come
 * together, a millisecond at most. Each charge gives the core to the server, and the thread comes back to cold caches:
 * with a charge every 50 us, a walk through 256 KB took 1.8 times its own CPU time; in this way, 1.2 times. If all
 * cores of the host are in use, the thread computes for a time slice, as under Linux, before other threads do. */
static bool keeps_on(const struct thread *thread)
{
    const struct charge_account *account = &thread->charge;
    int64_t enough_ns = (int64_t)(account->paid_ns - account->waited_ns) / SELDOM;

    if (enough_ns > SELDOM_MOST_NS)
        enough_ns = SELDOM_MOST_NS;
    if (enough_ns < slice_ns(thread))
        enough_ns = slice_ns(thread);
    return enough_ns > (int64_t)thread->process->page->charge_least_ns &&
           account->unpaid_ns + charge_counted_ns(thread) < enough_ns;
}

/* Before a call or a clock read (cost_point_of_call, cost_point_of_read): let the CPU time pass, if it is enough, or if
 * the thread or its program is about to end. */
void charge_look(struct thread *thread, long point)
{
    const struct simunix_clock_page *page = thread->process->page;
    struct charge_account *account = &thread->charge;

    account->points++;
    pay_rests(thread);
    if (is_foretold(thread)) {
        foretell(thread, point);
        return;
    }
    if (page->replays_charges != REPLAY_NONE) {
        replay(thread, point);
        return;
    }
    note(thread, point);
    if (keeps_on(thread) && !must_pay(account, point))
        return;
    if (account->cycles + (cycles_now() - account->cycles_since) < page->charge_least_cycles &&
        account->unpaid_ns < (int64_t)page->charge_least_ns && !must_pay(account, point))
        return;
    cost_add(thread, point, 0, -charge_settle(thread));
    if (keeps_on(thread) && !must_pay(account, point)) /* the counter has also counted the computing of other threads on
                                                        * this core */
        return;
    if (account->unpaid_ns >= (int64_t)page->charge_least_ns || must_pay(account, point))
        pay(thread, flags_of(point));
}

/* Charge a thread that computes without a call, because the server wants its turn. Returns false if it has computed
 * next to nothing, or if a replay has no such charge here. */
bool charge_preempted(struct thread *thread)
{
    struct charge_account *account = &thread->charge;

    if (is_foretold(thread))
        return false;
    if (account->rest_ns != 0) {
        pay_rest(thread);
        return true;
    }
    if (thread->process->page->replays_charges != REPLAY_NONE) {
        if (!is_due(account, account->points, true))
            return false;
    } else {
        charge_settle(thread);
        if (account->unpaid_ns < (int64_t)thread->process->page->charge_least_ns)
            return false;
    }
    pay(thread, CHARGE_PREEMPTED);
    return true;
}

/* Return the CPU time (ns) that a dead child and its children were charged; with pid 0, that of all dead children. */
uint64_t charged_child_ns(struct thread *thread, long pid)
{
    struct reply reply;

    if (thread->process->page->charge_least_ns == 0 || ASK(thread, &reply, OP_CHILD_TIME, pid) != 0)
        return 0;
    return (uint64_t)reply_number(&reply, 1);
}
