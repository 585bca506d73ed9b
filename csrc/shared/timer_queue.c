/* The timer queue: a heap of deadlines in the shared memory, kept by the holder of the turn, shim or server.
 *
 * Any emulated process can write there, so no place or number is trusted to lie within the arrays. */
#include "shared/timer_queue.h"

#define NOTHING_DUE 9223372036854775807

struct simunix_timer_queue *timer_queue_of(void *shared)
{
    return (struct simunix_timer_queue *)((char *)shared + SIMUNIX_TIMER_QUEUE_OFFSET);
}

static uint32_t size_of(const struct simunix_timer_queue *timer_queue)
{
    return timer_queue->count < SIMUNIX_SLOTS ? timer_queue->count : SIMUNIX_SLOTS - 1;
}

static int is_before(const struct simunix_alarm *one, const struct simunix_alarm *other)
{
    if (one->deadline != other->deadline)
        return one->deadline < other->deadline;
    return one->sequence < other->sequence;
}

static void put(struct simunix_timer_queue *timer_queue, uint32_t place, struct simunix_alarm alarm)
{
    timer_queue->alarms[place] = alarm;
    timer_queue->places[alarm.slot % SIMUNIX_SLOTS] = place + 1;
}

static uint32_t rise(struct simunix_timer_queue *timer_queue, uint32_t place, struct simunix_alarm alarm)
{
    while (place > 0 && is_before(&alarm, &timer_queue->alarms[(place - 1) / 2])) {
        put(timer_queue, place, timer_queue->alarms[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(timer_queue, place, alarm);
    return place;
}

static void sink(struct simunix_timer_queue *timer_queue, uint32_t place, struct simunix_alarm alarm)
{
    uint32_t size = size_of(timer_queue);

    for (uint32_t child = 2 * place + 1; child < size; child = 2 * place + 1) {
        if (child + 1 < size && is_before(&timer_queue->alarms[child + 1], &timer_queue->alarms[child]))
            child++;
        if (!is_before(&timer_queue->alarms[child], &alarm))
            break;
        put(timer_queue, place, timer_queue->alarms[child]);
        place = child;
    }
    put(timer_queue, place, alarm);
}

/* Write the deadline that is due first into the clock page. */
static void show(void *shared, const struct simunix_timer_queue *timer_queue)
{
    struct simunix_clock_page *page = shared;

    page->due_ns = timer_queue->count > 0 ? (uint64_t)timer_queue->alarms[0].deadline : NOTHING_DUE;
    page->due_sequence = timer_queue->alarms[0].sequence;
    page->due_slot = timer_queue->count > 0 ? timer_queue->alarms[0].slot : 0;
}

static void take(struct simunix_timer_queue *timer_queue, uint32_t place)
{
    struct simunix_alarm last;
    uint32_t left = size_of(timer_queue); /* read once: another process may write there meanwhile */

    if (left-- == 0)
        return;
    timer_queue->places[timer_queue->alarms[place].slot % SIMUNIX_SLOTS] = 0;
    timer_queue->count = left;
    last = timer_queue->alarms[left];
    if (place < left)
        sink(timer_queue, rise(timer_queue, place, last), last);
}

void timer_queue_add(void *shared, uint32_t slot, int64_t deadline)
{
    struct simunix_timer_queue *timer_queue = timer_queue_of(shared);
    struct simunix_alarm alarm = {.deadline = deadline, .slot = slot % SIMUNIX_SLOTS};
    uint32_t size = size_of(timer_queue);

    if (deadline < 0 || deadline == NOTHING_DUE || size == SIMUNIX_SLOTS - 1)
        return;
    timer_queue_remove(shared, slot);
    size = size_of(timer_queue);
    alarm.sequence = ++((struct simunix_clock_page *)shared)->sequence;
    timer_queue->count = size + 1;
    rise(timer_queue, size, alarm);
    show(shared, timer_queue);
}

void timer_queue_remove(void *shared, uint32_t slot)
{
    struct simunix_timer_queue *timer_queue = timer_queue_of(shared);
    uint32_t place = timer_queue->places[slot % SIMUNIX_SLOTS];

    if (place == 0 || place > size_of(timer_queue))
        return;
    take(timer_queue, place - 1);
    show(shared, timer_queue);
}

/* Remove the deadline that is due first, and return its slot; 0 if there is none. */
uint32_t timer_queue_pop(void *shared)
{
    struct simunix_timer_queue *timer_queue = timer_queue_of(shared);
    uint32_t slot = size_of(timer_queue) > 0 ? timer_queue->alarms[0].slot % SIMUNIX_SLOTS : 0;

    if (size_of(timer_queue) > 0)
        take(timer_queue, 0);
    show(shared, timer_queue); /* also for an empty heap: a process may have written into the clock page that a deadline
                                * is due */
    return slot;
}

int timer_queue_holds(void *shared, uint32_t slot)
{
    return timer_queue_of(shared)->places[slot % SIMUNIX_SLOTS] != 0;
}

/* Find the slots whose deadlines are due at a moment. Returns their number; `most` + 1 if there are more than `most`,
 * which is at most 32. */
unsigned timer_queue_due(void *shared, uint64_t now_ns, unsigned most)
{
    const struct simunix_timer_queue *timer_queue = timer_queue_of(shared);
    uint32_t size = size_of(timer_queue);
    uint32_t left[72] = {0}; /* each deadline that is due adds at most one more place to look at */
    unsigned waiting = 1;
    unsigned due = 0;

    while (waiting > 0 && due <= most) {
        uint32_t place = left[--waiting];

        if (place >= size || (uint64_t)timer_queue->alarms[place].deadline > now_ns)
            continue;
        due++;
        left[waiting++] = 2 * place + 1;
        left[waiting++] = 2 * place + 2;
    }
    return due;
}
