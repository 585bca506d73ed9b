/* Wakes the actors that wait at futexes, or moves them to other futexes. */
#ifndef SIMUNIX_TURN_FUTEXES_H
#define SIMUNIX_TURN_FUTEXES_H

#include "turn/waits/parking.h"

/* cffi: begin */
uint32_t futexes_wake(struct parking *parking, struct futex_key key, int64_t most, uint64_t bitset);
struct turn_actor *futexes_pass(struct parking *parking, struct futex_key key);
void futexes_wake_space(struct parking *parking, uint64_t space);
void futexes_wake_shared(struct parking *parking);
uint32_t futexes_requeue(struct parking *parking, struct futex_key from, struct futex_key to, int64_t most);
uint32_t futexes_count(const struct parking *parking, struct futex_key key, uint64_t detail);
const struct futex_queue *futexes_at(const struct parking *parking, struct futex_key key);
void futexes_put_first(struct parking *parking, struct futex_key key, const struct turn_actor *actor);
int futexes_is_alone(const struct turn_actor *actor);
void futexes_add(struct parking *parking, struct turn_actor *actor, struct futex_key key, uint64_t waits_for, int32_t place);
void futexes_remove(struct parking *parking, struct turn_actor *actor);
uint32_t futexes_lock_waiters(const struct parking *parking);
const struct futex_queue *futexes_first(const struct parking *parking);
/* cffi: end */

#endif
