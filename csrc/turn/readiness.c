#include "turn/readiness.h"

#include <linux/eventpoll.h>

#include "shared/watch.h"
#include "turn/waits/memory.h"

#define ACCEPT 43
#define ACCEPT4 288
#define PLAIN_FLAGS 0xff /* flags of a wait for descriptors; C code handles the wait only if none of them is set */

struct watched {
    uint64_t channel;
    struct turn_actor *actor;
    struct watched *chain;
};

struct readiness *readiness_new(int epoll)
{
    struct readiness *readiness = held(calloc(1, sizeof *readiness));

    readiness_look_also_at(readiness, epoll);
    readiness->events = held(malloc(READY_AT_ONCE * sizeof(struct epoll_event)));
    readiness->channels = held(calloc(CHANNEL_BUCKETS, sizeof(struct watched *)));
    readiness->may_have_changed = 1;
    return readiness;
}

void readiness_free(struct readiness *readiness)
{
    for (uint32_t i = 0; i < CHANNEL_BUCKETS; i++)
        while (readiness->channels[i] != NULL)
            readiness_forget(readiness, readiness->channels[i]->channel);
    free(readiness->epolls);
    free(readiness->channels);
    free(readiness->events);
    free(readiness->items);
    free(readiness);
}

/* Add another epoll, whose ready targets are asked for as well. */
void readiness_look_also_at(struct readiness *readiness, int epoll)
{
    readiness->epolls = held(realloc(readiness->epolls, (readiness->epoll_count + 1) * sizeof(int)));
    readiness->epolls[readiness->epoll_count++] = epoll;
}

static struct watched **link_of(const struct readiness *readiness, uint64_t channel)
{
    struct watched **link = &readiness->channels[channel % CHANNEL_BUCKETS];

    while (*link != NULL && (*link)->channel != channel)
        link = &(*link)->chain;
    return link;
}

/* From now on, reports of the epoll about a channel are about this actor. */
void readiness_watch(struct readiness *readiness, uint64_t channel, struct turn_actor *actor)
{
    struct watched **link = link_of(readiness, channel);

    if (*link == NULL) {
        *link = held(calloc(1, sizeof **link));
        (*link)->channel = channel;
    }
    (*link)->actor = actor;
}

/* Return the actor that is watched by this channel; NULL if there is none. */
struct turn_actor *readiness_watched(const struct readiness *readiness, uint64_t channel)
{
    const struct watched *found = *link_of(readiness, channel);

    return found == NULL ? NULL : found->actor;
}

void readiness_forget(struct readiness *readiness, uint64_t channel)
{
    struct watched **link = link_of(readiness, channel);
    struct watched *found = *link;

    if (found != NULL) {
        *link = found->chain;
        free(found);
    }
}

static void add_item(struct readiness *readiness, const struct epoll_event *event)
{
    struct ready_item item = {.token = event->data, .order = event->data, .events = event->events};
    uint64_t kind = event->data >> TARGET_SHIFT;

    if (kind == TARGET_ACTOR) {
        item.actor = readiness_watched(readiness, event->data - ((uint64_t)TARGET_ACTOR << TARGET_SHIFT));
        if (item.actor == NULL || !is_parked(item.actor))
            return; /* an actor that does not wait looks by itself before it waits */
        item.order = ((uint64_t)TARGET_ACTOR << TARGET_SHIFT) + item.actor->number;
    } else if (kind > TARGET_ACTOR) {
        return; /* another epoll is ready, which must be asked for its targets */
    }
    if (readiness->count == readiness->room) {
        readiness->room = readiness->room == 0 ? 64 : 2 * readiness->room;
        readiness->items = held(realloc(readiness->items, readiness->room * sizeof *readiness->items));
    }
    readiness->items[readiness->count++] = item;
}

/* Ask the kernel, and write its answer to `items`. Returns -errno if the kernel cannot be asked. */
static int ask(struct readiness *readiness)
{
    readiness->count = 0;
    for (uint32_t i = 0; i < readiness->epoll_count; i++) {
        const struct epoll_event *events = readiness->events;
        int told = watch_look(readiness->epolls[i], readiness->events, READY_AT_ONCE);

        if (told < 0)
            return told;
        if (told == 0 && i == 0)
            return 0; /* then no other epoll has a ready target either, since the first epoll watches the others */
        for (int j = 0; j < told; j++)
            add_item(readiness, &events[j]);
    }
    return 0;
}

static int by_order(const void *one, const void *other)
{
    const struct ready_item *first = one;
    const struct ready_item *second = other;

    return first->order < second->order ? -1 : first->order > second->order;
}

static int accepts(const struct ready_item *item)
{
    return item->actor != NULL && item->actor->wait.kind != KIND_NONE &&
           (item->actor->wait.syscall == ACCEPT || item->actor->wait.syscall == ACCEPT4);
}

/* Of the actors that wait in accept(2), put the one that has waited longest first, since Linux gives connections in
 * that order. */
static void put_accepts_in_turn(struct readiness *readiness)
{
    for (uint32_t place = 1; place < readiness->count; place++) {
        uint32_t here = place;

        if (!accepts(&readiness->items[place]))
            continue;
        for (uint32_t before = place; before-- > 0;) {
            struct ready_item earlier = readiness->items[before];

            if (!accepts(&earlier))
                continue;
            if (earlier.actor->wait.since <= readiness->items[here].actor->wait.since)
                break;
            readiness->items[before] = readiness->items[here];
            readiness->items[here] = earlier;
            here = before;
        }
    }
}

/* Return whether an actor waits only for descriptors of which the kernel knows whether they are ready. */
int readiness_is_plain(const struct turn_actor *actor)
{
    return actor->wait.kind == PARK_FD && (actor->wait.c & PLAIN_FLAGS) == 0;
}

static int is_of_python(const struct ready_item *item)
{
    return item->actor == NULL || (item->actor->wait.kind == PARK_FD && !readiness_is_plain(item->actor));
}

/* Return whether an actor may only be nominated, because another actor of its host has been woken in this look. */
int readiness_is_next(const struct readiness *readiness, const struct turn_actor *actor)
{
    return *actor->process->woken_in == readiness->look && actor->process->pidfd >= 0 && actor->wait.c >> 8 != 0 &&
           (actor->wait.c & PARK_FD_TERMINAL) == 0;
}

/* Note that an actor is the first of its host that is woken in this look. */
void readiness_first(const struct readiness *readiness, struct turn_actor *actor)
{
    *actor->process->woken_in = readiness->look;
}

/* Tell an actor that its descriptors are ready: wake the first of its host in this look, nominate the others. */
void readiness_wake(struct readiness *readiness, struct parking *parking, struct turn_actor *actor)
{
    if (actor->wait.kind != PARK_FD || actor->is_nominated)
        return;
    if (readiness_is_next(readiness, actor)) {
        actor->is_nominated = 1;
        run_queue_append(parking->run_queue, actor);
        return;
    }
    readiness_first(readiness, actor);
    parking_wake(parking, actor, WAKE_READY, 0);
}

/* Ask the kernel what has become ready. Returns 0 if only actors had to be woken; 1 if Python must handle `items`, in
 * their order; -errno for an error. */
int readiness_look(struct readiness *readiness, struct parking *parking)
{
    struct simunix_clock_page *page = parking->shared;
    int result;

    readiness->look++;
    page->may_have_woken = 0;
    result = ask(readiness);
    if (result < 0)
        return result;
    if (readiness->count > 1) {
        qsort(readiness->items, readiness->count, sizeof *readiness->items, by_order);
        put_accepts_in_turn(readiness);
    }
    for (uint32_t i = 0; i < readiness->count; i++)
        if (is_of_python(&readiness->items[i]))
            return 1;
    for (uint32_t i = 0; i < readiness->count; i++)
        readiness_wake(readiness, parking, readiness->items[i].actor);
    return 0;
}

/* Return whether a nominated actor, whose place in the run queue has come, gets the turn, because one of its
 * descriptors is still ready. An actor that was woken meanwhile for another reason gets the turn in any case. */
int readiness_elect(struct parking *parking, struct turn_actor *actor)
{
    if (is_parked(actor) && watch_is_ready(actor->process->pidfd, (int)(actor->wait.c >> 8)) != 0)
        parking_wake(parking, actor, WAKE_READY, 0); /* done while the actor is nominated, so that it keeps the place of
                                                      * the nomination */
    actor->is_nominated = 0;
    return !is_parked(actor);
}
