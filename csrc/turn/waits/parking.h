/* Begins the wait of an actor, and ends it: because the awaited event has happened, or at the deadline. */
#ifndef SIMUNIX_TURN_PARKING_H
#define SIMUNIX_TURN_PARKING_H

#include "shared/protocol.h"
#include "turn/waits/actor.h"
#include "turn/waits/futex_queues.h"
#include "turn/waits/run_queue.h"
#include "turn/waits/timeline.h"

/* The value for an actor that waits at a futex whose word may have changed although no actor has woken it. */
#define LOOK_AGAIN (-1)

/* cffi: begin */
/* The actor that has each slot. */
struct slot_table {
    struct turn_actor *actors[65536];
    uint32_t last[65536]; /* memory for temporary use by hand-offs */
};

struct parking *parking_new(void *shared, struct run_queue *queue, struct timeline *timeline, struct slot_table *slots);
void parking_free(struct parking *parking);
void parking_ask_ties(struct parking *parking);
void parking_say(struct turn_actor *actor, int32_t kind, int32_t syscall, int64_t deadline, uint64_t blocked, uint64_t a,
                 uint64_t b, uint64_t c, int64_t since, int siblings_may_wake);
void parking_park(struct parking *parking, struct turn_actor *actor, int is_in_timer_queue);
int parking_wake(struct parking *parking, struct turn_actor *actor, int32_t reason, int64_t value);
void parking_time_out(struct parking *parking, struct turn_actor *actor, int from);
void parking_make_ready(struct parking *parking, struct turn_actor *actor);
void parking_leave(struct parking *parking, struct turn_actor *actor);
void parking_unpark(struct parking *parking, struct turn_actor *actor);
void parking_end_deadline(struct parking *parking, struct turn_actor *actor);
void parking_keep_deadline(struct parking *parking, struct turn_actor *actor);
/* cffi: end */

struct parking {
    void *shared;
    struct run_queue *run_queue;
    struct timeline *timeline;
    struct slot_table *slots;
    struct futex_table futexes;
    uint8_t asks_ties;  /* Python decides which comes first if a deadline and an event have one moment */
    uint8_t is_settled; /* Python has decided this for the first deadline */
};

#endif
