/* What the core knows of an emulated thread, its process, and its wait. Python's Actor and Process own these records
 * (rsg_server/process/); the core keeps pointers to them until the thread ends. */
#ifndef SIMUNIX_TURN_ACTOR_H
#define SIMUNIX_TURN_ACTOR_H

#include <stdint.h>

/* cffi: begin */
struct turn_process {
    uint64_t number;
    int64_t memory_due_ns; /* when its memory is to be counted next; -1: never */
    uint64_t *woken_in;    /* of its host: the look at what is ready that has woken an actor last */
    int32_t pidfd;         /* -1: none */
    uint8_t stopped, frozen;
    uint8_t has_boxes;
    uint8_t is_timed; /* it has a timer or limit of CPU time */
};

enum turn_state { TURN_READY, TURN_RUNNING, TURN_PARKED, TURN_VFORK, TURN_DEAD };

/* Who keeps the deadline of a parked actor: nobody, the server's timeline, or the timer queue in shared memory. */
enum turn_deadline { DEADLINE_NONE, DEADLINE_OF_SERVER, DEADLINE_SHARED };

/* In the place of a kind: no wait; one of which only Python knows what it is for. */
enum turn_kind { KIND_NONE = -1, KIND_OF_PYTHON = 1000 };

/* What a parked actor waits for, as PARK says it (enum simunix_wait); `deadline` -1: none. */
struct turn_wait {
    int32_t kind, syscall;
    int64_t deadline;
    uint64_t blocked, a, b, c;
    int64_t since;
    uint8_t siblings_may_wake;
};

struct turn_actor {
    uint32_t number, slot;
    int32_t state;
    uint8_t deadline_in;
    uint8_t is_nominated;    /* has a place in the run queue, to look again at what it waits for */
    uint8_t is_new;          /* waits at its slot for its first turn */
    uint8_t answer_at_slot;  /* waits at its slot for its turn, and is told the reason and a value */
    uint8_t reply_at_slot;   /* waits there for the reply to its last message, which lay in the outbox */
    uint8_t owes_message;    /* speaks first: HELLO, or FORK_DONE after a vfork */
    uint8_t is_spinner;      /* was preempted */
    uint8_t has_object;      /* Python has an object for its wait */
    uint8_t ends_in_python;  /* that object ends the wait, and nobody else */
    uint8_t reply_in_python; /* what it is told is more than a reason and a value */
    uint8_t is_in_line;
    uint32_t deadline_handle;
    int32_t reply_wake;
    int64_t reply_value;
    struct turn_wait wait;
    struct turn_process *process;
    struct futex_waiter *waits_at;     /* its places in queues of futexes, in the order of their words */
    struct turn_actor *before, *after; /* in the run queue */
    void *object;                      /* the handle of Python's Actor; NULL once the thread has ended */
};
/* cffi: end */

static inline int is_parked(const struct turn_actor *actor)
{
    return actor->state == TURN_PARKED;
}

#endif
