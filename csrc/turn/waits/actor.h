/* The records that the server's C code has of an emulated thread, its process, and its wait. Python's Actor and Process
 * own these records (rsg_server/process/); the C code keeps pointers to them until the thread ends. */
#ifndef SIMUNIX_TURN_ACTOR_H
#define SIMUNIX_TURN_ACTOR_H

#include <stdint.h>

/* cffi: begin */
struct turn_process {
    uint64_t number;
    int64_t memory_due_ns; /* the virtual time at which the memory of the process is counted next; -1: never */
    uint64_t *woken_in;    /* the number of the last look at ready targets that has woken an actor of the process's host */
    int32_t pidfd;         /* -1: none */
    uint8_t stopped, frozen;
    uint8_t has_boxes;
    uint8_t is_timed; /* the process has a timer or limit of CPU time */
};

enum turn_state { TURN_READY, TURN_RUNNING, TURN_PARKED, TURN_VFORK, TURN_DEAD };

/* The place of the deadline of a waiting actor: nowhere, in the server's timeline, or in the timer queue in shared memory. */
enum turn_deadline { DEADLINE_NONE, DEADLINE_OF_SERVER, DEADLINE_SHARED };

/* Values in place of a kind of wait: there is no wait; there is a wait whose kind only Python knows. */
enum turn_kind { KIND_NONE = -1, KIND_OF_PYTHON = 1000 };

/* The wait of an actor, with the values of PARK (enum simunix_wait); `deadline` is -1 if there is none. */
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
    uint8_t is_nominated;    /* the actor has a place in the run queue although it waits: when its place comes, the
                              * server looks whether the wait is over */
    uint8_t is_new;          /* the actor waits at its slot for its first turn */
    uint8_t answer_at_slot;  /* the actor waits at its slot for its turn, which comes with a reason and a value */
    uint8_t reply_at_slot;   /* the actor waits at its slot for the reply to its last message, which was in the outbox */
    uint8_t owes_message;    /* the actor must send a message first: HELLO, or FORK_DONE after a vfork */
    uint8_t is_spinner;      /* the turn was taken from the actor */
    uint8_t has_object;      /* Python has an object for the actor's wait */
    uint8_t ends_in_python;  /* only Python's object can end the wait */
    uint8_t reply_in_python; /* Python has the actor's reply, which is more than a reason and a value */
    uint8_t is_in_line;
    uint32_t deadline_handle;
    int32_t reply_wake;
    int64_t reply_value;
    struct turn_wait wait;
    struct turn_process *process;
    struct futex_waiter *waits_at;     /* the actor's places in the queues of futexes, in the order of its futex words */
    struct turn_actor *before, *after; /* the actor's neighbours in the run queue */
    void *object;                      /* the handle of Python's Actor; NULL when the thread has ended */
};
/* cffi: end */

static inline int is_parked(const struct turn_actor *actor)
{
    return actor->state == TURN_PARKED;
}

#endif
