/* The timeline: a heap of deadlines of parked actors and of events of Python's, by moment, then by sequence number. An entry is
 * known by its handle, which is not 0, until it has come or is removed. */
#ifndef SIMUNIX_TURN_TIMELINE_H
#define SIMUNIX_TURN_TIMELINE_H

#include "turn/waits/actor.h"

#define NEVER_NS INT64_MAX
/* 146 years, as in rsg_server/shared/clock.py: what is due later never comes, so that sums of a moment and a span have room. */
#define LATEST_NS ((INT64_C(1) << 62) - 1)

/* cffi: begin */
struct timeline_entry {
    int64_t at_ns;
    uint64_t sequence;
    uint32_t handle;
};

struct timeline {
    struct timeline_entry *entries;
    uint32_t count, room;
    uint32_t *places;           /* by handle: 1 more than the place in the heap, 0: free */
    struct turn_actor **actors; /* by handle: whose deadline it is; NULL: an event of Python's */
    uint32_t *free;             /* handles to be given out again */
    uint32_t free_count, handles;
};

struct timeline *timeline_new(void);
void timeline_free(struct timeline *timeline);
uint32_t timeline_add(struct timeline *timeline, int64_t at_ns, uint64_t sequence, struct turn_actor *actor);
void timeline_remove(struct timeline *timeline, uint32_t handle);
int64_t timeline_next(const struct timeline *timeline);
/* cffi: end */

int timeline_has_event_at(const struct timeline *timeline, int64_t at_ns);
void timeline_put_behind(struct timeline *timeline, uint64_t sequence);
uint32_t timeline_pop(struct timeline *timeline, struct turn_actor **actor);

#endif
