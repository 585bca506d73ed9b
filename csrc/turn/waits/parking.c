#include "turn/waits/parking.h"

#include <stddef.h>

#include "shared/timer_queue.h"
#include "turn/waits/memory.h"

_Static_assert(sizeof((struct slot_table *)0)->actors / sizeof(struct turn_actor *) == SIMUNIX_SLOTS, "a slot for each");

struct parking *parking_new(void *shared, struct run_queue *queue, struct timeline *timeline, struct slot_table *slots)
{
    struct parking *parking = held(calloc(1, sizeof *parking));

    parking->shared = shared;
    parking->run_queue = queue;
    parking->timeline = timeline;
    parking->slots = slots;
    return parking;
}

void parking_free(struct parking *parking)
{
    futex_clear(&parking->futexes);
    free(parking);
}

/* From now on Python decides which comes first if a deadline and an event have one moment. */
void parking_ask_ties(struct parking *parking)
{
    parking->asks_ties = 1;
}

static void add_deadline(struct parking *parking, struct turn_actor *actor)
{
    struct simunix_clock_page *page = parking->shared;

    if (actor->wait.deadline > LATEST_NS)
        return;
    actor->deadline_handle = timeline_add(parking->timeline, actor->wait.deadline, ++page->sequence, actor);
    actor->deadline_in = DEADLINE_OF_SERVER;
}

/* Write a wait, with the values of PARK, into the record of an actor. */
void parking_say(struct turn_actor *actor, int32_t kind, int32_t syscall, int64_t deadline, uint64_t blocked, uint64_t a,
                 uint64_t b, uint64_t c, int64_t since, int siblings_may_wake)
{
    actor->wait = (struct turn_wait){.kind = kind,
                                     .syscall = syscall,
                                     .deadline = deadline < 0 ? -1 : deadline,
                                     .blocked = blocked,
                                     .a = a,
                                     .b = b,
                                     .c = c,
                                     .since = since,
                                     .siblings_may_wake = siblings_may_wake != 0};
}

/* Let an actor wait, without the turn, until the wait in its record ends. With `is_in_timer_queue`, the actor's process
 * has put the deadline into the timer queue itself. Python keeps the deadlines of waits that only Python can end. */
void parking_park(struct parking *parking, struct turn_actor *actor, int is_in_timer_queue)
{
    const struct turn_wait *wait = &actor->wait;

    actor->state = TURN_PARKED;
    if (wait->deadline >= 0 && is_in_timer_queue) {
        actor->deadline_in = DEADLINE_SHARED;
    } else if (wait->deadline >= 0 && wait->siblings_may_wake && actor->slot != 0 && !actor->ends_in_python) {
        timer_queue_add(parking->shared, actor->slot, wait->deadline);
        actor->deadline_in = DEADLINE_SHARED;
    } else if (wait->deadline >= 0 && !actor->ends_in_python) {
        add_deadline(parking, actor);
    }
    if (wait->kind == PARK_FUTEX && wait->a != SPACE_MANY)
        futex_append(&parking->futexes, actor, futex_key_of(actor, wait->a, wait->b), wait->c, 0);
}

/* Remove the deadline of an actor. */
void parking_end_deadline(struct parking *parking, struct turn_actor *actor)
{
    if (actor->deadline_in == DEADLINE_OF_SERVER)
        timeline_remove(parking->timeline, actor->deadline_handle);
    else if (actor->deadline_in == DEADLINE_SHARED)
        timer_queue_remove(parking->shared, actor->slot);
    actor->deadline_in = DEADLINE_NONE;
}

/* End the wait of an actor without an answer. */
void parking_leave(struct parking *parking, struct turn_actor *actor)
{
    futex_forget(&parking->futexes, actor);
    actor->wait.kind = KIND_NONE;
    actor->has_object = actor->ends_in_python = 0;
}

/* Delete the wait of an actor, because the actor's process has ended the wait and has updated the timer queue. */
void parking_unpark(struct parking *parking, struct turn_actor *actor)
{
    if (actor->deadline_in == DEADLINE_OF_SERVER)
        timeline_remove(parking->timeline, actor->deadline_handle);
    actor->deadline_in = DEADLINE_NONE;
    parking_leave(parking, actor);
}

/* Add an actor to the end of the run queue, unless it has a place there by nomination. The actors of a process that is
 * stopped or frozen are added when the process goes on. */
void parking_make_ready(struct parking *parking, struct turn_actor *actor)
{
    actor->state = TURN_READY;
    if (!actor->process->stopped && !actor->process->frozen && !actor->is_nominated)
        run_queue_append(parking->run_queue, actor);
}

/* Wake a waiting actor whose wait C code can end. Returns 0 if the actor does not wait. A signal may be blocked or
 * ignored: until the actor has looked, a wake may still find it in the queue of its futex. */
int parking_wake(struct parking *parking, struct turn_actor *actor, int32_t reason, int64_t value)
{
    if (!is_parked(actor))
        return 0;
    parking_end_deadline(parking, actor);
    if (actor->wait.kind == PARK_FUTEX && reason != WAKE_SIGNAL && value != LOOK_AGAIN)
        futex_forget(&parking->futexes, actor);
    actor->reply_wake = reason;
    actor->reply_value = value;
    actor->reply_in_python = 0;
    parking_make_ready(parking, actor);
    return 1;
}

/* Wake an actor whose deadline has come, and was removed from its place `from`. Processes write to the timer queue, so
 * an actor whose deadline the server keeps may be woken from the timer queue, too; its deadline is removed when its
 * wait ends. */
void parking_time_out(struct parking *parking, struct turn_actor *actor, int from)
{
    if (actor->deadline_in == from)
        actor->deadline_in = DEADLINE_NONE;
    parking_wake(parking, actor, WAKE_TIMEOUT, 0);
}

/* Move the deadline of an actor to the server, because its process cannot look at the timer queue for now. */
void parking_keep_deadline(struct parking *parking, struct turn_actor *actor)
{
    if (actor->deadline_in != DEADLINE_SHARED)
        return;
    parking_end_deadline(parking, actor);
    add_deadline(parking, actor);
}
