/* Futexes: for each futex word, the actors that wait there, in the order of their arrival. A word is (space, word) in
 * shared memory or of a kind of kernel object, and (number of the process, word) in private memory. */
#ifndef SIMUNIX_TURN_FUTEX_QUEUES_H
#define SIMUNIX_TURN_FUTEX_QUEUES_H

#include "turn/waits/actor.h"

#define FUTEX_BUCKETS 4096

/* cffi: begin */
struct futex_key {
    uint64_t space, word;
    uint32_t is_private;
};

/* A place in the queue of a futex word: which of its actor's words this is, and the bits (above them a detail) that the
 * actor waits for. */
struct futex_waiter {
    struct futex_waiter *before, *after;
    struct futex_waiter *other; /* the actor's next place in another queue */
    struct futex_queue *queue;
    struct turn_actor *actor;
    uint64_t waits_for;
    int32_t place;
};

struct futex_queue {
    struct futex_key key;
    struct futex_waiter *first, *last;
    uint32_t count;
    struct futex_queue *before, *after; /* neighbours of this queue in the order in which the words got their first waiters */
    struct futex_queue *chain;
};
/* cffi: end */

struct futex_table {
    struct futex_queue *buckets[FUTEX_BUCKETS];
    struct futex_queue *first, *last;
    uint32_t lock_waiters; /* the number of actors that wait for locks of files */
};

struct futex_key futex_key_of(const struct turn_actor *actor, uint64_t space, uint64_t word);
struct futex_queue *futex_find(const struct futex_table *table, const struct futex_key *key);
void futex_append(struct futex_table *table, struct turn_actor *actor, struct futex_key key, uint64_t waits_for, int32_t place);
void futex_forget(struct futex_table *table, struct turn_actor *actor);
void futex_put_first(struct futex_queue *queue, const struct turn_actor *actor);
void futex_clear(struct futex_table *table);

#endif
