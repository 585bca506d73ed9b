#include "turn/waits/futex_queues.h"

#include <stddef.h>

#include "shared/protocol.h"
#include "turn/waits/memory.h"

struct futex_key futex_key_of(const struct turn_actor *actor, uint64_t space, uint64_t word)
{
    struct futex_key key = {.space = space, .word = word};

    if (space == 0) {
        key.space = actor->process->number;
        key.is_private = 1;
    }
    return key;
}

static uint32_t bucket_of(const struct futex_key *key)
{
    uint64_t mixed = (key->space * 2 + key->is_private) * 0x9e3779b97f4a7c15u ^ key->word * 0xc2b2ae3d27d4eb4fu;

    return (uint32_t)(mixed >> 40) % FUTEX_BUCKETS;
}

static int is_same(const struct futex_key *one, const struct futex_key *other)
{
    return one->word == other->word && one->space == other->space && one->is_private == other->is_private;
}

/* Return the queue of a futex word; NULL if no actor waits there. */
struct futex_queue *futex_find(const struct futex_table *table, const struct futex_key *key)
{
    struct futex_queue *queue = table->buckets[bucket_of(key)];

    while (queue != NULL && !is_same(&queue->key, key))
        queue = queue->chain;
    return queue;
}

static struct futex_queue *found_or_made(struct futex_table *table, const struct futex_key *key)
{
    struct futex_queue *queue = futex_find(table, key);
    struct futex_queue **bucket = &table->buckets[bucket_of(key)];

    if (queue != NULL)
        return queue;
    queue = held(calloc(1, sizeof *queue));
    queue->key = *key;
    queue->chain = *bucket;
    *bucket = queue;
    queue->before = table->last;
    if (table->last != NULL)
        table->last->after = queue;
    else
        table->first = queue;
    table->last = queue;
    return queue;
}

static void drop(struct futex_table *table, struct futex_queue *queue)
{
    struct futex_queue **link = &table->buckets[bucket_of(&queue->key)];

    while (*link != queue)
        link = &(*link)->chain;
    *link = queue->chain;
    if (queue->before != NULL)
        queue->before->after = queue->after;
    else
        table->first = queue->after;
    if (queue->after != NULL)
        queue->after->before = queue->before;
    else
        table->last = queue->before;
    free(queue);
}

static int counts_as_lock(const struct futex_key *key)
{
    return !key->is_private && key->space == SPACE_LOCKS;
}

/* Add an actor to the queue of a futex word, after those that wait there. */
void futex_append(struct futex_table *table, struct turn_actor *actor, struct futex_key key, uint64_t waits_for, int32_t place)
{
    struct futex_queue *queue = found_or_made(table, &key);
    struct futex_waiter *waiter = held(calloc(1, sizeof *waiter));
    struct futex_waiter **link = &actor->waits_at;

    *waiter =
        (struct futex_waiter){.before = queue->last, .queue = queue, .actor = actor, .waits_for = waits_for, .place = place};
    while (*link != NULL)
        link = &(*link)->other;
    *link = waiter;
    if (queue->last != NULL)
        queue->last->after = waiter;
    else
        queue->first = waiter;
    queue->last = waiter;
    queue->count++;
    table->lock_waiters += counts_as_lock(&key);
}

static void unlink_waiter(struct futex_waiter *waiter)
{
    struct futex_queue *queue = waiter->queue;

    if (waiter->before != NULL)
        waiter->before->after = waiter->after;
    else
        queue->first = waiter->after;
    if (waiter->after != NULL)
        waiter->after->before = waiter->before;
    else
        queue->last = waiter->before;
}

/* Put an actor that waits in a queue before all others there. */
void futex_put_first(struct futex_queue *queue, const struct turn_actor *actor)
{
    struct futex_waiter *waiter = queue->first;

    while (waiter != NULL && waiter->actor != actor)
        waiter = waiter->after;
    if (waiter == NULL || waiter == queue->first)
        return;
    unlink_waiter(waiter);
    waiter->before = NULL;
    waiter->after = queue->first;
    queue->first->before = waiter;
    queue->first = waiter;
}

static void leave_queue(struct futex_table *table, struct futex_waiter *waiter)
{
    struct futex_queue *queue = waiter->queue;

    unlink_waiter(waiter);
    table->lock_waiters -= counts_as_lock(&queue->key);
    if (--queue->count == 0)
        drop(table, queue);
}

/* Remove an actor from its queues, also from those to which FUTEX_REQUEUE has moved it. */
void futex_forget(struct futex_table *table, struct turn_actor *actor)
{
    while (actor->waits_at != NULL) {
        struct futex_waiter *waiter = actor->waits_at;

        actor->waits_at = waiter->other;
        leave_queue(table, waiter);
        free(waiter);
    }
}

/* Delete all queues; their actors may not exist any more. */
void futex_clear(struct futex_table *table)
{
    while (table->first != NULL) {
        struct futex_queue *queue = table->first;

        while (queue->first != NULL) {
            struct futex_waiter *waiter = queue->first;

            queue->first = waiter->after;
            free(waiter);
        }
        drop(table, queue);
    }
}
