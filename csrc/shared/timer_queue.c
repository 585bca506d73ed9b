/* The agenda: a heap of deadlines in the shared memory, kept by the shims and by the server, whoever has the turn.
 *
 * Any emulated process can write there, so no place or number is trusted to lie within the arrays. */
#include "timer_queue.h"

#define NOTHING_DUE 9223372036854775807

struct simunix_agenda *agenda_of(void *shared)
{
    return (struct simunix_agenda *)((char *)shared + SIMUNIX_AGENDA_OFFSET);
}

static uint32_t size_of(const struct simunix_agenda *agenda)
{
    return agenda->count < SIMUNIX_SLOTS ? agenda->count : SIMUNIX_SLOTS - 1;
}

static int is_before(const struct simunix_alarm *one, const struct simunix_alarm *other)
{
    if (one->deadline != other->deadline)
        return one->deadline < other->deadline;
    return one->sequence < other->sequence;
}

static void put(struct simunix_agenda *agenda, uint32_t place, struct simunix_alarm alarm)
{
    agenda->alarms[place] = alarm;
    agenda->places[alarm.slot % SIMUNIX_SLOTS] = place + 1;
}

static uint32_t rise(struct simunix_agenda *agenda, uint32_t place, struct simunix_alarm alarm)
{
    while (place > 0 && is_before(&alarm, &agenda->alarms[(place - 1) / 2])) {
        put(agenda, place, agenda->alarms[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(agenda, place, alarm);
    return place;
}

static void sink(struct simunix_agenda *agenda, uint32_t place, struct simunix_alarm alarm)
{
    uint32_t size = size_of(agenda);

    for (uint32_t child = 2 * place + 1; child < size; child = 2 * place + 1) {
        if (child + 1 < size && is_before(&agenda->alarms[child + 1], &agenda->alarms[child]))
            child++;
        if (!is_before(&agenda->alarms[child], &alarm))
            break;
        put(agenda, place, agenda->alarms[child]);
        place = child;
    }
    put(agenda, place, alarm);
}

/* The page shows what is due first. */
static void show(void *shared, const struct simunix_agenda *agenda)
{
    struct simunix_clock_page *page = shared;

    page->due_ns = agenda->count > 0 ? (uint64_t)agenda->alarms[0].deadline : NOTHING_DUE;
    page->due_sequence = agenda->alarms[0].sequence;
    page->due_slot = agenda->count > 0 ? agenda->alarms[0].slot : 0;
}

static void take(struct simunix_agenda *agenda, uint32_t place)
{
    struct simunix_alarm last;

    agenda->places[agenda->alarms[place].slot % SIMUNIX_SLOTS] = 0;
    agenda->count = size_of(agenda) - 1;
    last = agenda->alarms[agenda->count];
    if (place < agenda->count)
        sink(agenda, rise(agenda, place, last), last);
}

void agenda_add(void *shared, uint32_t slot, int64_t deadline)
{
    struct simunix_agenda *agenda = agenda_of(shared);
    struct simunix_alarm alarm = {.deadline = deadline, .slot = slot % SIMUNIX_SLOTS};
    uint32_t size = size_of(agenda);

    if (deadline < 0 || deadline == NOTHING_DUE || size == SIMUNIX_SLOTS - 1)
        return;
    agenda_remove(shared, slot);
    size = size_of(agenda);
    alarm.sequence = ++((struct simunix_clock_page *)shared)->sequence;
    agenda->count = size + 1;
    rise(agenda, size, alarm);
    show(shared, agenda);
}

void agenda_remove(void *shared, uint32_t slot)
{
    struct simunix_agenda *agenda = agenda_of(shared);
    uint32_t place = agenda->places[slot % SIMUNIX_SLOTS];

    if (place == 0 || place > size_of(agenda))
        return;
    take(agenda, place - 1);
    show(shared, agenda);
}

/* The slot of what is due first, which is over with that; 0 if nothing is. */
uint32_t agenda_pop(void *shared)
{
    struct simunix_agenda *agenda = agenda_of(shared);
    uint32_t slot = size_of(agenda) > 0 ? agenda->alarms[0].slot % SIMUNIX_SLOTS : 0;

    if (size_of(agenda) > 0)
        take(agenda, 0);
    show(shared, agenda); /* also of an empty one: somebody may have written that something is due */
    return slot;
}

int agenda_holds(void *shared, uint32_t slot)
{
    return agenda_of(shared)->places[slot % SIMUNIX_SLOTS] != 0;
}

/* How many are due at a moment; `most` + 1 if it is more than `most`, which is at most 32. */
unsigned agenda_due(void *shared, uint64_t now_ns, unsigned most)
{
    const struct simunix_agenda *agenda = agenda_of(shared);
    uint32_t size = size_of(agenda);
    uint32_t left[72] = {0}; /* each that is due leaves at most one place more to look at */
    unsigned waiting = 1;
    unsigned due = 0;

    while (waiting > 0 && due <= most) {
        uint32_t place = left[--waiting];

        if (place >= size || (uint64_t)agenda->alarms[place].deadline > now_ns)
            continue;
        due++;
        left[waiting++] = 2 * place + 1;
        left[waiting++] = 2 * place + 2;
    }
    return due;
}
