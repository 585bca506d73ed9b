/* A heap with four children per node: half as deep as a binary heap, and siblings share a cache line. */
#include "queue.h"

#include "storage.h"

#include <math.h>

#define CHILDREN 4

void queue_free(struct queue *queue)
{
    free(queue->heap);
    free(queue->places);
}

static int is_before(struct appointment a, struct appointment b)
{
    return a.moment < b.moment || (a.moment == b.moment && a.number < b.number);
}

static void put(struct queue *queue, int place, struct appointment what)
{
    queue->heap[place] = what;
    queue->places[what.number] = place;
}

static void rise(struct queue *queue, int place, struct appointment what)
{
    for (; place > 0 && is_before(what, queue->heap[(place - 1) / CHILDREN]); place = (place - 1) / CHILDREN)
        put(queue, place, queue->heap[(place - 1) / CHILDREN]);
    put(queue, place, what);
}

static void sink(struct queue *queue, int place, struct appointment what)
{
    for (;;) {
        int first = CHILDREN * place + 1, last = first + CHILDREN, least = first;

        if (first >= queue->count)
            break;
        for (int child = first + 1; child < last && child < queue->count; child++)
            if (is_before(queue->heap[child], queue->heap[least]))
                least = child;
        if (!is_before(queue->heap[least], what))
            break;
        put(queue, place, queue->heap[least]);
        place = least;
    }
    put(queue, place, what);
}

static void settle(struct queue *queue, int place, struct appointment what)
{
    if (place > 0 && is_before(what, queue->heap[(place - 1) / CHILDREN]))
        rise(queue, place, what);
    else
        sink(queue, place, what);
}

void queue_set(struct queue *queue, int number, double moment)
{
    struct appointment what = {moment, number};

    while (queue->place_count <= number) {
        queue->places = make_room(queue->places, queue->place_count, &queue->place_room, sizeof *queue->places);
        queue->places[queue->place_count++] = -1;
    }
    if (queue->places[number] >= 0) {
        settle(queue, queue->places[number], what);
        return;
    }
    queue->heap = make_room(queue->heap, queue->count, &queue->room, sizeof *queue->heap);
    rise(queue, queue->count++, what);
}

void queue_remove(struct queue *queue, int number)
{
    int place = number < queue->place_count ? queue->places[number] : -1;

    if (place < 0)
        return;
    queue->places[number] = -1;
    if (place < --queue->count)
        settle(queue, place, queue->heap[queue->count]);
}

double queue_next(const struct queue *queue)
{
    return queue->count > 0 ? queue->heap[0].moment : INFINITY;
}

int queue_top(const struct queue *queue)
{
    return queue->heap[0].number;
}

double queue_moment(const struct queue *queue, int number)
{
    int place = number < queue->place_count ? queue->places[number] : -1;

    return place < 0 ? INFINITY : queue->heap[place].moment;
}
