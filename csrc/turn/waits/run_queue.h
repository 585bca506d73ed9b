/* The run queue: the actors that are ready for a turn, in the order in which they have become ready. */
#ifndef SIMUNIX_TURN_RUN_QUEUE_H
#define SIMUNIX_TURN_RUN_QUEUE_H

#include "turn/waits/actor.h"

/* cffi: begin */
struct run_queue {
    struct turn_actor *first, *last;
    uint32_t count;
    struct turn_actor
        /* an actor that was added although it was in the queue or dead, which is a mistake of the server; NULL: there
         * was none */
        *wrong;
};

void run_queue_append(struct run_queue *queue, struct turn_actor *actor);
void run_queue_prepend(struct run_queue *queue, struct turn_actor *actor);
void run_queue_remove(struct run_queue *queue, struct turn_actor *actor);
struct turn_actor *run_queue_at(const struct run_queue *queue, uint32_t place);
void run_queue_rotate(struct run_queue *queue, uint32_t count);
/* cffi: end */

#endif
