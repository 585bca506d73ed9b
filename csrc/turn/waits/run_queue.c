#include "turn/waits/run_queue.h"

#include <stddef.h>

/* May the actor join the line? It may not if it stands there, or has ended. */
static int may_join(struct run_queue *queue, struct turn_actor *actor)
{
    if (!actor->is_in_line && actor->state != TURN_DEAD)
        return 1;
    queue->wrong = actor;
    return 0;
}

/* Put an actor at the end. */
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

/* Nothing happens if the actor is in no line. */
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

/* The actor at a place, from 0; NULL behind the end. */
struct turn_actor *run_queue_at(const struct run_queue *queue, uint32_t place)
{
    struct turn_actor *actor = queue->first;

    while (actor != NULL && place-- > 0)
        actor = actor->after;
    return actor;
}

/* Put the first `count` actors behind all others. */
void run_queue_rotate(struct run_queue *queue, uint32_t count)
{
    while (count-- > 0 && queue->first != NULL) {
        struct turn_actor *actor = queue->first;

        run_queue_remove(queue, actor);
        run_queue_append(queue, actor);
    }
}
