#include "turn/waits/run_queue.h"

#include <stddef.h>

/* Return whether an actor may be added to the run queue. An actor may not be added if it is in the queue already, or
 * has ended. */
static int may_join(struct run_queue *queue, struct turn_actor *actor)
{
    if (!actor->is_in_line && actor->state != TURN_DEAD)
        return 1;
    queue->wrong = actor;
    return 0;
}

/* Add an actor to the end of the run queue. */
void run_queue_append(struct run_queue *queue, struct turn_actor *actor)
{
    if (!may_join(queue, actor))
        return;
    actor->before = queue->last;
    actor->after = NULL;
    if (queue->last != NULL)
        queue->last->after = actor;
    else
        queue->first = actor;
    queue->last = actor;
    queue->count++;
    actor->is_in_line = 1;
}

void run_queue_prepend(struct run_queue *queue, struct turn_actor *actor)
{
    if (!may_join(queue, actor))
        return;
    actor->before = NULL;
    actor->after = queue->first;
    if (queue->first != NULL)
        queue->first->before = actor;
    else
        queue->last = actor;
    queue->first = actor;
    queue->count++;
    actor->is_in_line = 1;
}

/* Remove an actor; do nothing if it is in no run queue. */
void run_queue_remove(struct run_queue *queue, struct turn_actor *actor)
{
    if (!actor->is_in_line)
        return;
    if (actor->before != NULL)
        actor->before->after = actor->after;
    else
        queue->first = actor->after;
    if (actor->after != NULL)
        actor->after->before = actor->before;
    else
        queue->last = actor->before;
    queue->count--;
    actor->is_in_line = 0;
}

/* Return the actor at a place, counted from 0; NULL behind the end. */
struct turn_actor *run_queue_at(const struct run_queue *queue, uint32_t place)
{
    struct turn_actor *actor = queue->first;

    while (actor != NULL && place-- > 0)
        actor = actor->after;
    return actor;
}

/* Move the first `count` actors behind all others. */
void run_queue_rotate(struct run_queue *queue, uint32_t count)
{
    while (count-- > 0 && queue->first != NULL) {
        struct turn_actor *actor = queue->first;

        run_queue_remove(queue, actor);
        run_queue_append(queue, actor);
    }
}
