/* Turns that stay inside a process: who waits for the clock, or at a futex of the process, is woken by its siblings, without a message.
 *
 * The server decides whatever others could see. As long as nobody else can run (before `horizon_ns`), what the threads of one process
 * do to each other is decided here, by the rules of the server's own loop (rsg_server/turn.py) and in its order: first what is due
 * happens, in the order in which it was asked for; then whoever is ready runs, first come first served; else the clock moves on. Before
 * the next message the server is told what has become of everybody (OP_STEPPED).
 */
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
void steps_remove(struct thread *thread)
{
    if (thread->stepper.stepping == STEP_NOT)
        return;
    take(list_of(thread), thread);
    thread->stepper.stepping = STEP_NOT;
    thread->process->steppers--;
}

/* It waits, as the server knows. */
void steps_add(struct thread *thread, const struct wait *wait, long number, uint64_t blocked)
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
    take(list_of(thread), thread);
    thread->stepper.stepping = STEP_READY;
    thread->stepper.is_news = true;
    thread->stepper.wake = wake;
    append(&thread->process->ready, thread);
    thread->process->has_stepped = true;
}

/* Who waits with the earliest deadline; of several the one that came first. */
static struct thread *earliest(const struct process *process)
{
    struct thread *first = NULL;

    for (struct thread *thread = process->parked; thread != NULL; thread = thread->stepper.next)
        if (thread->stepper.deadline != NEVER && (first == NULL || thread->stepper.deadline < first->stepper.deadline))
            first = thread;
    return first;
}

/* Does no sibling run or is due before a deadline? */
bool steps_alone(const struct thread *thread, uint64_t deadline)
{
    const struct thread *first = earliest(thread->process);

    return thread->process->ready == NULL && (first == NULL || (uint64_t)first->stepper.deadline > deadline);
}

/* Who has the turn next, NULL if that is the server's to say. */
static struct thread *next_turn(struct process *process)
{
    struct simunix_clock_page *page = process->page;

    for (;;) {
        struct thread *first = earliest(process);

        if (first != NULL && (uint64_t)first->stepper.deadline <= page->now_ns)
            make_ready(first, WAKE_TIMEOUT);
        else if (process->ready != NULL)
            return process->ready;
        else if (first == NULL || (uint64_t)first->stepper.deadline >= page->horizon_ns)
            return NULL;
        else
            page->now_ns = (uint64_t)first->stepper.deadline;
    }
}

/* When a clock reader gives the turn back: something is due, or others are ready and it has had its share. */
static void set_event(const struct process *process)
{
    struct simunix_clock_page *page = process->page;
    const struct thread *first = earliest(process);
    uint64_t share = page->quantum_ns > page->now_ns ? page->quantum_ns : page->now_ns + 1;

    page->siblings_ready = process->ready != NULL;
    page->event_ns = page->horizon_ns;
    if (first != NULL && (uint64_t)first->stepper.deadline < page->event_ns)
        page->event_ns = (uint64_t)first->stepper.deadline;
    if (process->ready != NULL && share < page->event_ns)
        page->event_ns = share;
}

static void begin_turn(struct thread *thread)
{
    struct simunix_clock_page *page = thread->process->page;

    page->quantum_ns = page->now_ns + SIMUNIX_QUANTUM_NS;
    page->running = thread->slot;
    page->steps++;
    page->steps_digest = random_mix(page->steps_digest ^ page->now_ns ^ (uint64_t)thread->tid << 40 ^ (uint64_t)thread->stepper.wake << 36);
}

/* Hand the turn on, and wait for it to come back. */
static enum simunix_wake hand_over(struct call *call, struct thread *next)
{
    struct process *process = call->thread->process;
    enum simunix_wake wake = (enum simunix_wake)next->stepper.wake;
    int64_t value;

    if (call->trace != NULL)
        strace_waits(call);
    begin_turn(next);
    steps_remove(next);
    process->has_stepped = true;
    set_event(process);
    slot_hand_over(next, wake);
    return slot_wait(call->thread, &value);
}

static bool may_step(const struct thread *thread, const struct wait *wait)
{
    const struct process *process = thread->process;
    const struct simunix_clock_page *page = process->page;

    return thread->slot != 0 && process->steppers > 0 && process->steppers < SIMUNIX_STEPPERS_MAX && page->noisy == 0 &&
           page->now_ns < page->horizon_ns && (wait->steps || wait->kind == PARK_YIELD);
}

/* Wait with the help of siblings; false if the server must be asked. */
bool steps_park(struct call *call, const struct wait *wait, enum simunix_wake *wake)
{
    struct thread *thread = call->thread;
    struct thread *next;

    if (!may_step(thread, wait))
        return false;
    steps_add(thread, wait, call->number, signals_strip(call->mask));
    thread->stepper.is_news = true;
    if (wait->kind == PARK_YIELD)
        make_ready(thread, WAKE_READY);
    next = next_turn(thread->process);
    if (next == NULL || next == thread) {
        *wake = (enum simunix_wake)thread->stepper.wake;
        steps_remove(thread);
        if (next != NULL)
            begin_turn(thread);
        set_event(thread->process);
        return next != NULL;
    }
    *wake = hand_over(call, next);
    return true;
}

/* Wake waiters of a futex of the process; false if the server must be asked, who may know of others. */
bool steps_wake(struct process *process, uint64_t word, int64_t most, uint32_t bitset, long *woken)
{
    struct thread *thread = process->parked;

    if (process->page->horizon_ns <= process->page->now_ns || process->waiters_elsewhere != 0 ||
        process->steppers >= SIMUNIX_STEPPERS_MAX)
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
void steps_requeue(struct process *process, const uint64_t from[2], const uint64_t to[2], int64_t woken, int64_t moved)
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
                    steps_remove(thread);
                else
                    move_back(thread);
            }
        }
        thread = next;
    }
}

static unsigned fill(struct simunix_stepped *news, unsigned count, struct thread *list)
{
    for (struct thread *thread = list; thread != NULL; thread = thread->stepper.next) {
        const struct stepper *stepper = &thread->stepper;

        if (!stepper->is_news || count == SIMUNIX_STEPPERS_MAX)
            continue;
        news[count++] = (struct simunix_stepped){.slot = thread->slot,
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

/* Before a message: the server learns what has happened since the last one, by the voice that it listens to. */
void steps_tell(struct thread *thread)
{
    struct process *process = thread->process;
    struct simunix_stepped news[SIMUNIX_STEPPERS_MAX];
    struct msgpack_writer writer;
    struct thread *speaker = process->speaker;
    struct thread *scribe = process->ready != NULL ? process->ready : process->parked; /* its buffer is free */
    unsigned count;

    if (!thread->has_turn || !process->has_stepped)
        return;
    process->has_stepped = false;
    count = fill(news, fill(news, 0, process->parked), process->ready);
    while (process->ready != NULL) /* the server's to run now */
        steps_remove(process->ready);
    if (count == 0)
        return;
    process->speaker = thread;
    request_start(scribe, &writer, OP_STEPPED, 3);
    msgpack_put_int(&writer, thread->slot);
    msgpack_put_uint(&writer, process->page->steps_digest);
    msgpack_put_bytes(&writer, news, count * sizeof *news);
    request_send(scribe, speaker->channel, &writer);
}

/* A child has none of its parent's threads. */
void steps_forget(struct process *process)
{
    process->parked = process->ready = process->speaker = NULL;
    process->steppers = process->waiters_elsewhere = 0;
    process->has_stepped = false;
}
