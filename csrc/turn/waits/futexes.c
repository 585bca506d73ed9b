#include "turn/waits/futexes.h"

#include <stddef.h>

#include "turn/waits/memory.h"

#define ANY 0xffffffffu

/* Wake an actor at one of its futex words. An actor that a signal has made ready, and that has not run since then, is
 * not changed. */
static void wake_one(struct parking *parking, struct turn_actor *actor, int32_t place)
{
    if (parking_wake(parking, actor, WAKE_READY, place))
        return;
    futex_forget(&parking->futexes, actor);
    actor->reply_wake = WAKE_READY;
    actor->reply_value = place;
    actor->reply_in_python = 0;
}

/* Return the next place of another actor in the queue: a wake of the present actor removes all of its places. */
static struct futex_waiter *next_actor(const struct futex_waiter *waiter)
{
    struct futex_waiter *next = waiter->after;

    while (next != NULL && next->actor == waiter->actor)
        next = next->after;
    return next;
}

/* Wake at most `most` waiters that wait for one of the bits, in the order of their arrival. Returns how many were woken. */
uint32_t futexes_wake(struct parking *parking, struct futex_key key, int64_t most, uint64_t bitset)
{
    const struct futex_queue *queue = futex_find(&parking->futexes, &key);
    struct futex_waiter *waiter = queue == NULL ? NULL : queue->first;
    uint32_t woken = 0;

    while (waiter != NULL && woken < most) {
        struct futex_waiter *next = waiter->after;

        if ((waiter->waits_for & bitset) != 0) {
            next = next_actor(waiter);
            wake_one(parking, waiter->actor, waiter->place);
            woken++;
        }
        waiter = next;
    }
    return woken;
}

/* Wake the first waiter of a lock, its next owner, and return it; NULL if no actor waits. */
struct turn_actor *futexes_pass(struct parking *parking, struct futex_key key)
{
    const struct futex_queue *queue = futex_find(&parking->futexes, &key);
    struct turn_actor *actor;

    if (queue == NULL)
        return NULL;
    actor = queue->first->actor;
    wake_one(parking, actor, queue->first->place);
    return actor;
}

/* Return the futex words at which an actor waits now, in the order in which they got their first waiters. */
static struct futex_key *all_keys(const struct parking *parking, uint32_t *count)
{
    struct futex_key *keys;

    *count = 0;
    for (const struct futex_queue *queue = parking->futexes.first; queue != NULL; queue = queue->after)
        ++*count;
    keys = held(calloc(*count + 1, sizeof *keys));
    *count = 0;
    for (const struct futex_queue *queue = parking->futexes.first; queue != NULL; queue = queue->after)
        keys[(*count)++] = queue->key;
    return keys;
}

/* Wake all actors that wait for kernel objects of one kind, so that they look at the objects again. */
void futexes_wake_space(struct parking *parking, uint64_t space)
{
    uint32_t count;
    struct futex_key *keys = all_keys(parking, &count);

    for (uint32_t i = 0; i < count; i++)
        if (!keys[i].is_private && keys[i].space == space)
            futexes_wake(parking, keys[i], INT64_MAX, ANY);
    free(keys);
}

static void look_again(struct parking *parking, struct futex_key key)
{
    const struct futex_queue *queue = futex_find(&parking->futexes, &key);
    struct futex_waiter *waiter = queue == NULL ? NULL : queue->first;

    while (waiter != NULL) {
        struct futex_waiter *next = next_actor(waiter);
        const struct turn_wait *wait = &waiter->actor->wait;

        if (wait->kind == PARK_FUTEX && wait->a == SPACE_MANY)
            wake_one(parking, waiter->actor, waiter->place);
        else if (wait->kind == PARK_FUTEX && wait->a == key.space && wait->b == key.word)
            parking_wake(parking, waiter->actor, WAKE_READY, LOOK_AGAIN);
        waiter = next;
    }
}

/* Let all actors that wait in shared memory look at their words, since a dead process may have owned a robust lock
 * there. An actor whose word is unchanged waits on. A waiter that FUTEX_REQUEUE has moved knows only its first word,
 * and is not woken. */
void futexes_wake_shared(struct parking *parking)
{
    uint32_t count;
    struct futex_key *keys = all_keys(parking, &count);

    for (uint32_t i = 0; i < count; i++)
        if (!keys[i].is_private)
            look_again(parking, keys[i]);
    free(keys);
}

/* Add the actor again to the queues of all its words; at the word that was changed, it comes after the other actors of
 * the new word. */
static void move(struct parking *parking, struct turn_actor *actor, const struct futex_waiter *moved, struct futex_key to)
{
    struct futex_key keys[256];
    int32_t count = 0;

    for (const struct futex_waiter *waiter = actor->waits_at; waiter != NULL && count < 256; waiter = waiter->other)
        keys[count++] = waiter->queue->key;
    futex_forget(&parking->futexes, actor);
    for (int32_t place = 0; place < count; place++)
        futex_append(&parking->futexes, actor, place == moved->place ? to : keys[place],
                     place == moved->place ? moved->waits_for : ANY, place);
}

/* Move at most `most` waiters to another word without waking them. Returns how many were moved. */
uint32_t futexes_requeue(struct parking *parking, struct futex_key from, struct futex_key to, int64_t most)
{
    const struct futex_queue *queue = futex_find(&parking->futexes, &from);
    struct futex_waiter *moved;
    uint32_t count = 0;

    if (queue == NULL || most <= 0 || queue == futex_find(&parking->futexes, &to))
        return 0;
    moved = held(calloc(queue->count, sizeof *moved));
    for (const struct futex_waiter *waiter = queue->first; waiter != NULL && count < most; waiter = waiter->after)
        moved[count++] = *waiter;
    for (uint32_t i = 0; i < count; i++)
        move(parking, moved[i].actor, &moved[i], to);
    free(moved);
    return count;
}

/* Return how many actors wait at a word with this detail above their bits. */
uint32_t futexes_count(const struct parking *parking, struct futex_key key, uint64_t detail)
{
    const struct futex_queue *queue = futex_find(&parking->futexes, &key);
    uint32_t count = 0;

    for (const struct futex_waiter *waiter = queue == NULL ? NULL : queue->first; waiter != NULL; waiter = waiter->after)
        count += waiter->waits_for >> 32 == detail;
    return count;
}

/* Return the queue of a futex word; NULL if no actor waits there. */
const struct futex_queue *futexes_at(const struct parking *parking, struct futex_key key)
{
    return futex_find(&parking->futexes, &key);
}

/* Let an actor that waits at a word be the first that is woken there. */
void futexes_put_first(struct parking *parking, struct futex_key key, const struct turn_actor *actor)
{
    struct futex_queue *queue = futex_find(&parking->futexes, &key);

    if (queue != NULL)
        futex_put_first(queue, actor);
}

/* Return whether no other actor waits at any of the words at which an actor waits. */
int futexes_is_alone(const struct turn_actor *actor)
{
    for (const struct futex_waiter *waiter = actor->waits_at; waiter != NULL; waiter = waiter->other)
        if (waiter->queue->count != 1)
            return 0;
    return 1;
}

void futexes_add(struct parking *parking, struct turn_actor *actor, struct futex_key key, uint64_t waits_for, int32_t place)
{
    futex_append(&parking->futexes, actor, key, waits_for, place);
}

void futexes_remove(struct parking *parking, struct turn_actor *actor)
{
    futex_forget(&parking->futexes, actor);
}

uint32_t futexes_lock_waiters(const struct parking *parking)
{
    return parking->futexes.lock_waiters;
}

/* Return the queue of the word that has had a waiter for longest; NULL if no actor waits at any word. */
const struct futex_queue *futexes_first(const struct parking *parking)
{
    return parking->futexes.first;
}
