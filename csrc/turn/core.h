/* The core of the server: who has the turn, and what the loop that gives turns works with (loop.c). */
#ifndef SIMUNIX_TURN_CORE_H
#define SIMUNIX_TURN_CORE_H

#include "turn/waits/parking.h"
#include "turn/readiness.h"
#include "turn/turn_log.h"

/* cffi: begin */
/* The message that was taken last; its bytes and its news are still where they were (struct simunix_outbox). */
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
    struct turn_actor *holder;  /* the server has given it the turn; NULL: nobody has it */
    struct turn_actor *actor;   /* whom an event is about */
    struct turn_actor *speaker; /* who has sent the last message */
    int64_t known_ns;           /* what the clock said when the server last looked */
    int64_t limit_ns;           /* pace or pause: the clock may not pass this moment */
    int64_t solo_limit_ns;      /* how far, in virtual time, an actor that is alone may advance the clock */
    int64_t holder_since_ns;    /* real time, monotonic */
    int64_t due_until_ns;
    uint32_t which; /* the handle, the slot or the reason of an event */
    uint32_t seen;  /* rings of the doorbell */
    uint32_t rounds;
    uint8_t is_due;    /* what is due until `due_until_ns` happens now */
    uint8_t unsettled; /* a terminal's characters may still be under way in the kernel */
    uint8_t has_debugger;
    uint8_t asks_order;           /* Python picks who is next */
    uint8_t tells_turns;          /* Python looks at each turn before its holder is told */
    uint8_t counts_parks;         /* Python looks at each message */
    uint8_t has_listened;         /* for the first slice of the patience with the holder, before Python goes on */
    struct simunix_handoff *news; /* scratch */
};
/* cffi: end */

static inline struct simunix_clock_page *page_of(const struct turn_core *core)
{
    return core->shared;
}

int64_t core_now(struct turn_core *core);
int64_t core_due(const struct turn_core *core);

#endif
