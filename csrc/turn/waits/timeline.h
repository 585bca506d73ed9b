/* The timeline: a heap of the deadlines of waiting actors and of events of Python's, by moment, then by sequence
 * number. An entry is identified by its handle, which is not 0, until the entry has come or is removed. */
#ifndef SIMUNIX_TURN_TIMELINE_H
#define SIMUNIX_TURN_TIMELINE_H

#include "turn/waits/actor.h"

#define NEVER_NS INT64_MAX
/* 146 years, as in rsg_server/shared/clock.py. Later entries never come, so that sums of a moment and a duration cannot
 * overflow. */
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
    uint32_t *places;           /* for each handle: 1 more than its place in the heap; 0: the handle is free */
    struct turn_actor **actors; /* for each handle: the actor whose deadline the entry is; NULL: the entry is one of
                                 * Python's events */
    uint32_t *free;             /* the handles that can be used again */
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
