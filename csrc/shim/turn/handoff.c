/* Turns that go on without the server: who waits for the clock, or at a futex of its process, is woken without a message.
 *
 * The server decides whatever others could see. As long as nothing else can happen (before `lookahead_ns`), what the threads of one process
 * do to each other is decided here, by the rules of the server's own loop (rsg_server/turn/loop.py) and in its order: first what is due
 * happens, in the order in which it was asked for; then whoever is ready runs, first come first served; else the clock moves on. What is
 * due then may be another process's: the turn goes there (remote_handoff.c). Before the next message the server is told what has become of
 * everybody (OP_HANDED_OFF).
 */
#include "timer_queue.h"
#include "shim.h"

static void append(struct thread **list, struct thread *thread)
{
    while (*list != NULL)
        list = &(*list)->stepper.next;
    thread->stepper.next = NULL;
    *list = thread;
}

static void take(struct thread **list, const struct thread *thread)
{
    while (*list != NULL && *list != thread)
        list = &(*list)->stepper.next;
    if (*list != NULL)
        *list = thread->stepper.next;
}

static struct thread **list_of(const struct thread *thread)
{
    return thread->stepper.stepping == STEP_READY ? &thread->process->ready : &thread->process->parked;
}

/* It has the turn, or waits for something else. */
void handoff_remove(struct thread *thread)
{
    if (thread->stepper.stepping == STEP_NOT)
        return;
    take(list_of(thread), thread);
    thread->stepper.stepping = STEP_NOT;
    thread->process->steppers--;
}

/* It waits, as the server knows. */
void handoff_add(struct thread *thread, const struct wait *wait, long number, uint64_t blocked)
{
    thread->stepper = (struct stepper){.stepping = STEP_PARKED,
                                       .wait = (int16_t)wait->kind,
                                       .syscall = (int32_t)number,
                                       .deadline = wait->deadline,
                                       .blocked = blocked,
                                       .word = wait->b,
                                       .bitset = wait->c};
    append(&thread->process->parked, thread);
    thread->process->steppers++;
}

static void make_ready(struct thread *thread, enum simunix_wake wake)
{
    timer_queue_remove(thread->process->page, thread->slot);
    take(list_of(thread), thread);
    thread->stepper.stepping = STEP_READY;
    thread->stepper.is_news = true;
    thread->stepper.wake = wake;
    append(&thread->process->ready, thread);
    thread->process->has_stepped = true;
}

/* Whose deadline comes first, if it is of this process. */
static struct thread *first_due(const struct process *process)
{
    struct thread *thread = process->parked;

    while (thread != NULL && thread->slot != process->page->due_slot)
        thread = thread->stepper.next;
    return thread;
}

/* Does no sibling run, and is nobody due before a deadline? */
bool handoff_alone(const struct thread *thread, uint64_t deadline)
{
    return thread->process->ready == NULL && thread->process->page->due_ns > deadline;
}

enum next { NEXT_IS_READY, NEXT_IS_STRANGER, NEXT_IS_SERVER };

/* Is all that is due at a moment of this process? */
static bool all_own(const struct process *process, uint64_t moment)
{
    unsigned own = 0;

    for (const struct thread *thread = process->parked; thread != NULL; thread = thread->stepper.next)
        own += timer_queue_holds(process->page, thread->slot) && (uint64_t)thread->stepper.deadline <= moment;
    return own > 0 && first_due(process) != NULL && own == timer_queue_due(process->page, moment, own);
}

/* Who has the turn next: the first of those that are ready, a thread of another process that is due, or whom the server says. The clock
 * moves on only if that is not the server's business: it would have to let happen what is due for several at once. */
static enum next next_turn(struct process *process)
{
    struct simunix_clock_page *page = process->page;

    for (;;) {
        uint64_t moment = page->due_ns;
        bool is_due = moment <= page->now_ns;

        if (!is_due && process->ready != NULL)
            return NEXT_IS_READY;
        if (!is_due && moment >= page->lookahead_ns)
            return NEXT_IS_SERVER;
        if (is_due)
            moment = page->now_ns;
        if (all_own(process, moment)) {
            page->now_ns = moment;
            make_ready(first_due(process), WAKE_TIMEOUT);
        } else if (process->ready != NULL || !remote_handoff_fits(process, moment)) {
            return NEXT_IS_SERVER;
        } else {
            page->now_ns = moment;
            return NEXT_IS_STRANGER;
        }
    }
}

/* When a clock reader gives the turn back: something is due, or others are ready and it has had its share. */
static void set_event(const struct process *process)
{
    struct simunix_clock_page *page = process->page;
    uint64_t share = page->quantum_ns > page->now_ns ? page->quantum_ns : page->now_ns + 1;

    page->siblings_ready = process->ready != NULL;
    page->event_ns = page->due_ns < page->lookahead_ns ? page->due_ns : page->lookahead_ns;
    if (process->ready != NULL && share < page->event_ns)
        page->event_ns = share;
}

static void begin_turn(struct simunix_clock_page *page, uint32_t slot, enum simunix_wake wake)
{
    page->quantum_ns = page->now_ns + SIMUNIX_QUANTUM_NS;
    page->running = slot;
    page->handoffs++;
    page->handoffs_digest = random_mix(page->handoffs_digest ^ page->now_ns ^ (uint64_t)slot << 40 ^ (uint64_t)wake << 36);
}

/* Hand the turn on, and wait for it to come back. */
static enum simunix_wake hand_over(struct call *call, uint32_t slot, enum simunix_wake wake)
{
    struct process *process = call->thread->process;
    int64_t value;

    if (call->trace != NULL)
        strace_waits(call);
    begin_turn(process->page, slot, wake);
    set_event(process);
    slot_hand_over(process, slot, wake);
    return slot_wait(call->thread, &value);
}

static bool may_step(const struct thread *thread, const struct wait *wait)
{
    const struct process *process = thread->process;
    const struct simunix_clock_page *page = process->page;

    return thread->slot != 0 && process->steppers < SIMUNIX_HANDOFF_MAX && page->may_have_woken == 0 && page->now_ns < page->lookahead_ns &&
           (process->steppers > 0 || page->due_ns < page->lookahead_ns) && (wait->steps || wait->kind == PARK_YIELD);
}

static enum simunix_wake go_on(struct thread *thread)
{
    enum simunix_wake wake = (enum simunix_wake)thread->stepper.wake;

    handoff_remove(thread);
    begin_turn(thread->process->page, thread->slot, wake);
    set_event(thread->process);
    return wake;
}

static enum simunix_wake pass_on(struct call *call, struct thread *next)
{
    enum simunix_wake wake = (enum simunix_wake)next->stepper.wake;

    handoff_remove(next);
    return hand_over(call, next->slot, wake);
}

/* What became of this process's threads stands in the journal: nobody of it speaks before the turn comes back. */
static enum simunix_wake pass_to_stranger(struct call *call)
{
    struct process *process = call->thread->process;

    remote_handoff_write(process);
    return hand_over(call, timer_queue_pop(process->page), WAKE_TIMEOUT);
}

/* Wait with the help of others; false if the server must be asked. */
bool handoff_park(struct call *call, const struct wait *wait, enum simunix_wake *wake)
{
    struct thread *thread = call->thread;
    struct process *process = thread->process;
    enum next next;

    if (!may_step(thread, wait))
        return false;
    handoff_add(thread, wait, call->number, signals_strip(call->mask));
    thread->stepper.is_news = true;
    if (wait->kind == PARK_YIELD)
        make_ready(thread, WAKE_READY);
    else if (wait->deadline != NEVER && (uint64_t)wait->deadline <= process->page->now_ns)
        make_ready(thread, WAKE_TIMEOUT);
    else
        timer_queue_add(process->page, thread->slot, wait->deadline);
    next = next_turn(process);
    if (next == NEXT_IS_SERVER) {
        timer_queue_remove(process->page, thread->slot);
        handoff_remove(thread);
        set_event(process);
        return false;
    }
    if (next == NEXT_IS_STRANGER)
        *wake = pass_to_stranger(call);
    else
        *wake = process->ready == thread ? go_on(thread) : pass_on(call, process->ready);
    return true;
}

/* Wake waiters of a futex of the process; false if the server must be asked, who may know of others. */
bool handoff_wake(struct process *process, uint64_t word, int64_t most, uint32_t bitset, long *woken)
{
    struct thread *thread = process->parked;

    if (process->page->lookahead_ns <= process->page->now_ns || process->waiters_elsewhere != 0 ||
        process->steppers >= SIMUNIX_HANDOFF_MAX)
        return false;
    *woken = 0;
    while (thread != NULL && *woken < most) {
        struct thread *next = thread->stepper.next;

        if (thread->stepper.wait == PARK_FUTEX && thread->stepper.word == word && (thread->stepper.bitset & bitset) != 0) {
            make_ready(thread, WAKE_READY);
            ++*woken;
        }
        thread = next;
    }
    set_event(process);
    return true;
}

static void move_back(struct thread *thread)
{
    take(&thread->process->parked, thread);
    append(&thread->process->parked, thread);
}

/* The server has moved waiters of one word to another, behind those that it has woken. */
void handoff_requeue(struct process *process, const uint64_t from[2], const uint64_t to[2], int64_t woken, int64_t moved)
{
    struct thread *thread = process->parked;

    while (thread != NULL && from[0] == 0 && woken + moved > 0) {
        struct thread *next = thread->stepper.next;

        if (thread->stepper.wait == PARK_FUTEX && thread->stepper.word == from[1]) {
            if (woken > 0) {
                woken--;
            } else {
                moved--;
                thread->stepper.word = to[1];
                if (to[0] != 0)
                    handoff_remove(thread);
                else
                    move_back(thread);
            }
        }
        thread = next;
    }
}

/* Those of a list of which the server does not know, from now on it does. */
unsigned handoff_news(struct simunix_handoff *news, unsigned count, unsigned most, struct thread *list)
{
    for (struct thread *thread = list; thread != NULL; thread = thread->stepper.next) {
        const struct stepper *stepper = &thread->stepper;

        if (!stepper->is_news || count == most)
            continue;
        news[count++] = (struct simunix_handoff){.slot = thread->slot,
                                                 .is_ready = stepper->stepping == STEP_READY,
                                                 .wait = stepper->wait,
                                                 .wake = stepper->wake,
                                                 .syscall = stepper->syscall,
                                                 .deadline = stepper->deadline,
                                                 .blocked = stepper->blocked,
                                                 .word = stepper->word,
                                                 .bitset = stepper->bitset};
        thread->stepper.is_news = false;
    }
    return count;
}

/* Somebody who waits, whose buffer is free; the speaker's own holds what it is about to say. */
static struct thread *scribe_for(const struct thread *speaker)
{
    struct thread *scribe = speaker->process->ready != NULL ? speaker->process->ready : speaker->process->parked;

    return scribe == speaker ? speaker->stepper.next : scribe;
}

/* Before a message: the server learns what has happened since the last one. */
void handoff_tell(struct thread *thread)
{
    struct process *process = thread->process;
    struct simunix_handoff news[SIMUNIX_HANDOFF_MAX];
    struct msgpack_writer writer;
    uint8_t few[64];
    struct thread *scribe = scribe_for(thread);
    uint8_t *buffer = scribe != NULL ? scribe->buffer : few;
    unsigned count;

    if (!thread->has_turn || (!process->has_stepped && process->page->running == 0))
        return;
    process->has_stepped = false;
    count = handoff_news(news, 0, SIMUNIX_HANDOFF_MAX, process->parked);
    count = handoff_news(news, count, SIMUNIX_HANDOFF_MAX, process->ready);
    while (process->ready != NULL) /* the server's to run now */
        handoff_remove(process->ready);
    msgpack_start(&writer, buffer, scribe != NULL ? sizeof scribe->buffer : sizeof few);
    msgpack_put_array(&writer, 3);
    msgpack_put_int(&writer, OP_HANDED_OFF);
    msgpack_put_uint(&writer, process->page->handoffs_digest);
    msgpack_put_bytes(&writer, news, count * sizeof *news);
    request_send(thread, buffer, &writer);
}

/* A child has none of its parent's threads. */
void handoff_forget(struct process *process)
{
    process->parked = process->ready = NULL;
    process->steppers = process->waiters_elsewhere = 0;
    process->has_stepped = false;
}
