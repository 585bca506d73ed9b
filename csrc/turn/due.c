#include "turn/due.h"

#include <stddef.h>

#include "shared/timer_queue.h"

/* Return the moment of the earliest deadline in the timer queue, to which emulated processes write. */
static int64_t next_alarm(void *shared)
{
    const struct simunix_clock_page *page = shared;

    return shared == NULL || page->due_ns > (uint64_t)LATEST_NS ? NEVER_NS : (int64_t)page->due_ns;
}

/* Return the moment of the next deadline or event; NEVER_NS if there is none. */
int64_t due_next(const struct timeline *timeline, void *shared)
{
    int64_t own = timeline_next(timeline);
    int64_t alarm = next_alarm(shared);

    return alarm < own ? alarm : own;
}

static int alarm_is_first(const struct timeline *timeline, void *shared)
{
    const struct simunix_clock_page *page = shared;
    int64_t alarm = next_alarm(shared);

    if (alarm == NEVER_NS || alarm > timeline_next(timeline))
        return 0;
    return timeline->count == 0 || alarm < timeline->entries[0].at_ns || page->due_sequence < timeline->entries[0].sequence;
}

/* Return the actor whose deadline comes first; NULL if an event comes first. */
struct turn_actor *due_first(const struct timeline *timeline, void *shared, const struct parking *parking)
{
    const struct simunix_clock_page *page = shared;

    if (alarm_is_first(timeline, shared))
        return parking->slots->actors[page->due_slot % SIMUNIX_SLOTS];
    return timeline->count > 0 ? timeline->actors[timeline->entries[0].handle] : NULL;
}

/* Return whether Python must decide if a deadline comes before one of Python's events at the same moment. Several
 * deadlines all come before any of their actors runs. */
static int is_tied(const struct timeline *timeline, void *shared, struct parking *parking)
{
    if (parking == NULL || !parking->asks_ties)
        return 0;
    if (parking->is_settled) {
        parking->is_settled = 0;
        return 0;
    }
    return due_first(timeline, shared, parking) != NULL && timeline_has_event_at(timeline, due_next(timeline, shared));
}

/* Let the first deadline, which has the same moment as an event, come now, or after all events and deadlines of that moment. */
void due_settle(struct timeline *timeline, void *shared, struct parking *parking, int is_behind)
{
    struct simunix_clock_page *page = shared;
    int64_t at_ns = due_next(timeline, shared);

    if (!is_behind)
        parking->is_settled = 1;
    else if (alarm_is_first(timeline, shared))
        timer_queue_add(shared, timer_queue_pop(shared), at_ns);
    else
        timeline_put_behind(timeline, ++page->sequence);
}

/* Let all deadlines and events up to `now_ns` come, until one that only Python can handle. Returns that one: an event
 * of the timeline with the handle `which`, an alarm for the slot `which`, or the decision whether a deadline or an
 * event comes first (due_settle). Without a parking Python handles all alarms. */
int due_step(struct timeline *timeline, void *shared, struct parking *parking, int64_t now_ns, uint32_t *which)
{
    struct turn_actor *actor;

    while (due_next(timeline, shared) <= now_ns && due_next(timeline, shared) != NEVER_NS) {
        if (is_tied(timeline, shared, parking))
            return DUE_TIE;
        if (alarm_is_first(timeline, shared)) {
            *which = timer_queue_pop(shared);
            actor = parking == NULL ? NULL : parking->slots->actors[*which % SIMUNIX_SLOTS];
            if (actor == NULL ? parking == NULL : actor->ends_in_python && is_parked(actor))
                return DUE_ALARM;
            if (actor != NULL)
                parking_time_out(parking, actor, DEADLINE_SHARED);
        } else {
            *which = timeline_pop(timeline, &actor);
            if (actor == NULL)
                return DUE_EVENT;
            parking_time_out(parking, actor, DEADLINE_OF_SERVER);
        }
    }
    return DUE_NOTHING;
}
