/* The core of the server: the struct that says which actor has the turn; the loop that gives turns (loop.c) uses it. */
#ifndef SIMUNIX_TURN_CORE_H
#define SIMUNIX_TURN_CORE_H

#include "turn/waits/parking.h"
#include "turn/readiness.h"
#include "turn/turn_log.h"

/* cffi: begin */
/* The message that the server has taken last. The bytes of the message, and the reported states of threads, are still
 * in shared memory (struct simunix_outbox). */
struct turn_outbox {
    uint32_t asked, slot, length, tells_handoffs;
    uint64_t digest, news_count;
};

struct turn_core {
    void *shared;
    struct run_queue *queue;
    struct timeline *timeline;
    struct slot_table *slots;
    struct parking *parking;
    struct readiness *readiness;
    struct turn_log *log;
    struct turn_outbox *outbox;
    struct turn_actor *holder;  /* the actor to which the server has given the turn; NULL: no actor has it */
    struct turn_actor *actor;   /* the actor that an event is about */
    struct turn_actor *speaker; /* the actor that has sent the last message */
    int64_t known_ns;           /* the virtual time that the server has read last */
    int64_t limit_ns;           /* the virtual time that the clock may not pass, because of the pace or of a pause */
    int64_t solo_limit_ns;      /* how far (virtual ns) an actor may advance the clock while no other is ready */
    int64_t holder_since_ns;    /* the real time (monotonic clock) at which the holder got the turn */
    int64_t due_until_ns;
    uint32_t which; /* the handle, the slot or the reason that an event is about */
    uint32_t seen;  /* the number of rings of the doorbell that the server has seen */
    uint32_t rounds;
    uint8_t is_due;    /* events that are due until `due_until_ns` happen now */
    uint8_t unsettled; /* the kernel may still be passing a terminal's characters on */
    uint8_t has_debugger;
    uint8_t asks_order;           /* Python decides which actor is next */
    uint8_t tells_turns;          /* Python observes each turn before its holder is woken */
    uint8_t counts_parks;         /* Python observes each message */
    uint8_t has_listened;         /* C code has listened to the holder for the first part of its patience, and Python
                                   * goes on listening */
    struct simunix_handoff *news; /* memory for temporary use */
};
/* cffi: end */

static inline struct simunix_clock_page *page_of(const struct turn_core *core)
{
    return core->shared;
}

int64_t core_now(struct turn_core *core);
int64_t core_due(const struct turn_core *core);

#endif
