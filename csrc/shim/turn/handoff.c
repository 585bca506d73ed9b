/* Turns that go on without the server: a thread that waits for the clock, or at a futex of its process, is woken without a
 * message.
 *
 * The invariant: before `lookahead_ns` only deadlines of the timer queue can come, so until then the threads of one
 * process may hand the turn to each other, and the clock may move to a deadline of the queue; from `lookahead_ns` on
 * the server decides. The order is that of the server (rsg_server/turn/loop.py): first the due deadlines come, in the
 * order in which they were set; then ready threads run, first come first served; if there are none, the clock moves on.
 * If a thread of another process is due then, the turn goes to this thread (remote_handoff.c). Under another order than
 * first come, first served, hand-offs would be wrong: the server of such a run never lets `lookahead_ns` exceed
 * `now_ns` (rsg_server/turn/allowance.py: solo_limit_ns), so may_hand_off, which is asked before every hand-off,
 * returns false. The next message first reports the new states of all these threads to the server
 * (core/message/handoff_list.c). */
#include "shared/slots.h"
#include "shared/timer_queue.h"
#include "shim/strace/tracing.h"
#include "shim/turn/turn.h"

/* Record that the thread waits from now on, and that the server knows it. */
void handoff_add(struct thread *thread, const struct wait *wait, long number, uint64_t blocked)
{
    thread->handoff = (struct handoff_wait){.state = HANDOFF_WAITS,
                                            .wait = (int16_t)wait->kind,
                                            .syscall = (int32_t)number,
                                            .deadline = wait->deadline,
                                            .blocked = blocked,
                                            .word = wait->b,
                                            .bitset = wait->c};
    handoff_append(&thread->process->handoffs.parked, thread);
    thread->process->handoffs.count++;
}

static void make_ready(struct thread *thread, enum simunix_wake wake)
{
    timer_queue_remove(thread->process->page, thread->link.slot);
    handoff_take(&thread->process->handoffs.parked, thread);
    thread->handoff.state = HANDOFF_READY;
    thread->handoff.is_news = true;
    thread->handoff.wake = wake;
    handoff_append(&thread->process->handoffs.ready, thread);
    thread->process->handoffs.has_news = true;
}

/* Return the thread of this process that has the first deadline of all; NULL if the first deadline belongs to another
 * process. */
static struct thread *first_due(const struct process *process)
{
    struct thread *thread = process->handoffs.parked;

    while (thread != NULL && thread->link.slot != process->page->due_slot)
        thread = thread->handoff.next;
    return thread;
}

/* Return whether no thread of this process is ready, and nothing is due up to a deadline. */
bool handoff_alone(const struct thread *thread, uint64_t deadline)
{
    return thread->process->handoffs.ready == NULL && thread->process->page->due_ns > deadline;
}

enum next { NEXT_IS_READY, NEXT_IS_REMOTE, NEXT_IS_SERVER };

/* Return whether all deadlines that are due at a moment belong to this process. */
static bool all_own(const struct process *process, uint64_t moment)
{
    unsigned own = 0;

    for (const struct thread *thread = process->handoffs.parked; thread != NULL; thread = thread->handoff.next)
        own += timer_queue_holds(process->page, thread->link.slot) && (uint64_t)thread->handoff.deadline <= moment;
    return own > 0 && first_due(process) != NULL && own == timer_queue_due(process->page, moment, own);
}

/* Return which thread has the turn next: the first ready one, a due thread of another process, or the one that the
 * server will choose. The clock moves only if a single process has threads that are due then; the server must order
 * those of several processes. */
static enum next next_turn(struct process *process)
{
    struct simunix_clock_page *page = process->page;

    for (;;) {
        uint64_t moment = page->due_ns;
        bool is_due = moment <= page->now_ns;

        if (!is_due && process->handoffs.ready != NULL)
            return NEXT_IS_READY;
        if (!is_due && moment >= page->lookahead_ns)
            return NEXT_IS_SERVER;
        if (is_due)
            moment = page->now_ns;
        if (all_own(process, moment)) {
            page->now_ns = moment;
            make_ready(first_due(process), WAKE_TIMEOUT);
        } else if (process->handoffs.ready != NULL || !remote_handoff_fits(process, moment)) {
            return NEXT_IS_SERVER;
        } else {
            page->now_ns = moment;
            return NEXT_IS_REMOTE;
        }
    }
}

/* Set the moment at which a thread that reads the clock gives the turn back: when a deadline or event is due, or, if
 * other threads are ready, when the thread's quantum is over. */
static void set_event(const struct process *process)
{
    struct simunix_clock_page *page = process->page;
    uint64_t share = page->quantum_ns > page->now_ns ? page->quantum_ns : page->now_ns + 1;

    page->siblings_ready = process->handoffs.ready != NULL;
    page->event_ns = page->due_ns < page->lookahead_ns ? page->due_ns : page->lookahead_ns;
    if (process->handoffs.ready != NULL && share < page->event_ns)
        page->event_ns = share;
}

static void begin_turn(struct simunix_clock_page *page, uint32_t slot, enum simunix_wake wake)
{
    page->quantum_ns = page->now_ns + SIMUNIX_QUANTUM_NS;
    page->running = slot;
    page->computing_slot = 0;
    page->handoffs++;
    page->handoffs_digest = random_mix(page->handoffs_digest ^ page->now_ns ^ (uint64_t)slot << 40 ^ (uint64_t)wake << 36);
}

/* Give the turn to the thread at a slot, and wait until the turn comes back. */
static enum simunix_wake hand_over(struct call *call, uint32_t slot, enum simunix_wake wake)
{
    struct process *process = call->thread->process;
    int64_t value;

    if (call->trace != NULL)
        strace_waits(call);
    begin_turn(process->page, slot, wake);
    set_event(process);
    slot_answer(process->page, slot, wake, 0);
    return slot_wait(call->thread, &value);
}

static bool may_hand_off(const struct thread *thread, const struct wait *wait)
{
    const struct process *process = thread->process;
    const struct simunix_clock_page *page = process->page;

    return thread->link.slot != 0 && !thread->link.owes_hello && process->handoffs.count < SIMUNIX_HANDOFF_MAX &&
           page->may_have_woken == 0 && page->now_ns < page->lookahead_ns &&
           (process->handoffs.count > 0 || page->due_ns < page->lookahead_ns) && (wait->by_handoff || wait->kind == PARK_YIELD);
}

static enum simunix_wake go_on(struct thread *thread)
{
    enum simunix_wake wake = (enum simunix_wake)thread->handoff.wake;

    handoff_remove(thread);
    begin_turn(thread->process->page, thread->link.slot, wake);
    set_event(thread->process);
    return wake;
}

static enum simunix_wake pass_on(struct call *call, struct thread *next)
{
    enum simunix_wake wake = (enum simunix_wake)next->handoff.wake;

    handoff_remove(next);
    return hand_over(call, next->link.slot, wake);
}

/* Give the turn to another process. The states of this process's threads go into the journal, since none of them sends
 * a message before the turn comes back. */
static enum simunix_wake pass_to_remote(struct call *call)
{
    struct process *process = call->thread->process;

    remote_handoff_write(process);
    return hand_over(call, timer_queue_pop(process->page), WAKE_TIMEOUT);
}

/* Give the turn back without the server, and wait. Returns false if the server must be asked. */
bool handoff_park(struct call *call, const struct wait *wait, enum simunix_wake *wake)
{
    struct thread *thread = call->thread;
    struct process *process = thread->process;
    enum next next;

    if (!may_hand_off(thread, wait))
        return false;
    handoff_add(thread, wait, call->number, signals_strip(call->mask));
    thread->handoff.is_news = true;
    if (wait->kind == PARK_YIELD)
        make_ready(thread, WAKE_READY);
    else if (wait->deadline != NEVER && (uint64_t)wait->deadline <= process->page->now_ns)
        make_ready(thread, WAKE_TIMEOUT);
    else
        timer_queue_add(process->page, thread->link.slot, wait->deadline);
    next = next_turn(process);
    if (next == NEXT_IS_SERVER) {
        timer_queue_remove(process->page, thread->link.slot);
        handoff_remove(thread);
        set_event(process);
        return false;
    }
    if (next == NEXT_IS_REMOTE)
        *wake = pass_to_remote(call);
    else
        *wake = process->handoffs.ready == thread ? go_on(thread) : pass_on(call, process->handoffs.ready);
    return true;
}

static bool waits_at(const struct thread *thread, uint64_t word)
{
    return thread->handoff.wait == PARK_FUTEX && thread->handoff.word == word;
}

/* Note that the server has woken threads at a futex word, or may have. Until these have run, only the server knows
 * which threads they are. */
void handoff_doubt(struct process *process, uint64_t word)
{
    for (struct thread *thread = process->handoffs.parked; thread != NULL; thread = thread->handoff.next)
        thread->handoff.is_doubtful |= waits_at(thread, word);
}

/* Return whether every thread of the list that waits at a word still waits, as the server sees it. A deadline that has
 * come is no longer in the timer queue. If the thread's deadline would end the holder's turn, only the server can wake
 * the thread, since it must also remove this limit of the turn. */
static bool all_still_wait(const struct process *process, uint64_t word)
{
    for (const struct thread *thread = process->handoffs.parked; thread != NULL; thread = thread->handoff.next) {
        const struct handoff_wait *waits = &thread->handoff;

        if (!waits_at(thread, word))
            continue;
        if (waits->is_doubtful || (waits->deadline != NEVER && (!timer_queue_holds(process->page, thread->link.slot) ||
                                                                (uint64_t)waits->deadline <= process->page->event_ns)))
            return false;
    }
    return true;
}

/* Return whether threads at a word may be woken without the server, which learns of it before the next message. If
 * other threads are ready, the woken ones join the end of the server's run queue, since no other thread can join it
 * before. */
static bool may_wake(const struct process *process, uint64_t word)
{
    const struct simunix_clock_page *page = process->page;

    if (process->handoffs.waiters_elsewhere != 0 || process->handoffs.count >= SIMUNIX_HANDOFF_MAX)
        return false;
    return page->now_ns < page->lookahead_ns || (page->now_ns < page->event_ns && all_still_wait(process, word));
}

/* Wake waiters of a private futex. Returns false if the server must be asked, since it may know of other waiters. */
bool handoff_wake(struct process *process, uint64_t word, int64_t most, uint32_t bitset, long *woken)
{
    struct thread *thread = process->handoffs.parked;
    bool is_alone = process->page->now_ns < process->page->lookahead_ns;

    if (!may_wake(process, word))
        return false;
    *woken = 0;
    while (thread != NULL && *woken < most) {
        struct thread *next = thread->handoff.next;

        if (waits_at(thread, word) && (thread->handoff.bitset & bitset) != 0) {
            make_ready(thread, WAKE_READY);
            ++*woken;
        }
        thread = next;
    }
    if (is_alone)
        set_event(process);
    return true;
}

static void move_back(struct thread *thread)
{
    handoff_take(&thread->process->handoffs.parked, thread);
    handoff_append(&thread->process->handoffs.parked, thread);
}

/* Change the lists here as the server has done: it has woken some waiters of a word, and moved the next ones to another
 * word. */
void handoff_requeue(struct process *process, const uint64_t from[2], const uint64_t to[2], int64_t woken, int64_t moved)
{
    struct thread *thread = process->handoffs.parked;

    while (thread != NULL && from[0] == 0 && woken + moved > 0) {
        struct thread *next = thread->handoff.next;

        if (waits_at(thread, from[1])) {
            thread->handoff.is_doubtful = true;
            if (woken > 0) {
                woken--;
            } else {
                moved--;
                thread->handoff.word = to[1];
                if (to[0] != 0)
                    handoff_remove(thread);
                else
                    move_back(thread);
            }
        }
        thread = next;
    }
}
