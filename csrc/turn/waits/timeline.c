#include "turn/waits/timeline.h"

#include <stddef.h>

#include "turn/waits/memory.h"

struct timeline *timeline_new(void)
{
    return held(calloc(1, sizeof(struct timeline)));
}

void timeline_free(struct timeline *timeline)
{
    free(timeline->entries);
    free(timeline->places);
    free(timeline->actors);
    free(timeline->free);
    free(timeline);
}

static int is_before(const struct timeline_entry *one, const struct timeline_entry *other)
{
    if (one->at_ns != other->at_ns)
        return one->at_ns < other->at_ns;
    return one->sequence < other->sequence;
}

static void put(struct timeline *timeline, uint32_t place, struct timeline_entry entry)
{
    timeline->entries[place] = entry;
    timeline->places[entry.handle] = place + 1;
}

static uint32_t rise(struct timeline *timeline, uint32_t place, struct timeline_entry entry)
{
    while (place > 0 && is_before(&entry, &timeline->entries[(place - 1) / 2])) {
        put(timeline, place, timeline->entries[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(timeline, place, entry);
    return place;
}

static void sink(struct timeline *timeline, uint32_t place, struct timeline_entry entry)
{
    for (uint32_t child = 2 * place + 1; child < timeline->count; child = 2 * place + 1) {
        if (child + 1 < timeline->count && is_before(&timeline->entries[child + 1], &timeline->entries[child]))
            child++;
        if (!is_before(&timeline->entries[child], &entry))
            break;
        put(timeline, place, timeline->entries[child]);
        place = child;
    }
    put(timeline, place, entry);
}

/* Make room for one more entry. Handles begin with 1. */
static void grow(struct timeline *timeline)
{
    uint32_t room = timeline->room == 0 ? 64 : 2 * timeline->room;

    if (timeline->count < timeline->room)
        return;
    timeline->entries = held(realloc(timeline->entries, room * sizeof *timeline->entries));
    timeline->places = held(realloc(timeline->places, (room + 1) * sizeof *timeline->places));
    timeline->actors = held(realloc(timeline->actors, (room + 1) * sizeof *timeline->actors));
    timeline->free = held(realloc(timeline->free, room * sizeof *timeline->free));
    timeline->room = room;
}

/* Add the deadline of an actor, or one of Python's events. Returns its handle. */
uint32_t timeline_add(struct timeline *timeline, int64_t at_ns, uint64_t sequence, struct turn_actor *actor)
{
    struct timeline_entry entry = {.at_ns = at_ns, .sequence = sequence};

    grow(timeline);
    entry.handle = timeline->free_count > 0 ? timeline->free[--timeline->free_count] : ++timeline->handles;
    timeline->actors[entry.handle] = actor;
    timeline->count++;
    rise(timeline, timeline->count - 1, entry);
    return entry.handle;
}

void timeline_remove(struct timeline *timeline, uint32_t handle)
{
    uint32_t place = handle == 0 || handle > timeline->handles ? 0 : timeline->places[handle];
    struct timeline_entry last;

    if (place == 0)
        return;
    place--;
    timeline->places[handle] = 0;
    timeline->free[timeline->free_count++] = handle;
    last = timeline->entries[--timeline->count];
    if (place < timeline->count)
        sink(timeline, rise(timeline, place, last), last);
}

/* Return the moment of the entry that comes first; NEVER_NS if there is none. */
int64_t timeline_next(const struct timeline *timeline)
{
    return timeline->count > 0 && timeline->entries[0].at_ns <= LATEST_NS ? timeline->entries[0].at_ns : NEVER_NS;
}

static int has_event_below(const struct timeline *timeline, uint32_t place, int64_t at_ns)
{
    if (place >= timeline->count || timeline->entries[place].at_ns > at_ns)
        return 0;
    if (timeline->entries[place].at_ns == at_ns && timeline->actors[timeline->entries[place].handle] == NULL)
        return 1;
    return has_event_below(timeline, 2 * place + 1, at_ns) || has_event_below(timeline, 2 * place + 2, at_ns);
}

/* Return whether one of Python's events is due at a moment before which nothing is due. */
int timeline_has_event_at(const struct timeline *timeline, int64_t at_ns)
{
    return has_event_below(timeline, 0, at_ns);
}

/* Put the first entry behind all others of its moment: `sequence` is larger than the sequence numbers of the others. */
void timeline_put_behind(struct timeline *timeline, uint64_t sequence)
{
    struct timeline_entry first;

    if (timeline->count == 0) /* a process has overwritten the entry of the timer queue that was to come first */
        return;
    first = timeline->entries[0];
    first.sequence = sequence;
    sink(timeline, 0, first);
}

/* Remove the entry that comes first. Returns its handle, which is free then; `actor` is the actor whose deadline it was. */
uint32_t timeline_pop(struct timeline *timeline, struct turn_actor **actor)
{
    uint32_t handle = timeline->entries[0].handle;

    *actor = timeline->actors[handle];
    timeline_remove(timeline, handle);
    return handle;
}
