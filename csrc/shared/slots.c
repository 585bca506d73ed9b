/* How the server gives a waiting thread its turn or an answer, in the thread's slot of the shared memory; and how the
 * server waits for the next message. */
#include "shared/slots.h"

#include "shared/kernel.h"
#include "shared/protocol.h"

_Static_assert(SIMUNIX_SLOTS_OFFSET + SIMUNIX_SLOTS * sizeof(struct simunix_slot) <= SIMUNIX_TIMER_QUEUE_OFFSET,
               "slots reach the timer queue");
_Static_assert(SIMUNIX_TIMER_QUEUE_OFFSET + sizeof(struct simunix_timer_queue) <= SIMUNIX_STREAMS_OFFSET,
               "the timer queue reaches the streams");
_Static_assert(SIMUNIX_STREAMS_OFFSET + SIMUNIX_STREAMS * sizeof(uint32_t) <= SIMUNIX_OUTBOX_OFFSET, "the streams do not fit");

struct simunix_slot *slot_at(void *shared, uint32_t slot)
{
    return (struct simunix_slot *)((char *)shared + SIMUNIX_SLOTS_OFFSET) + slot % SIMUNIX_SLOTS;
}

void slot_answer(void *shared, uint32_t slot, int32_t wake, int64_t value)
{
    struct simunix_slot *answered = slot_at(shared, slot);

    answered->wake = wake;
    answered->value = value;
    __atomic_store_n(&answered->word, SLOT_ANSWERED, __ATOMIC_RELEASE);
    NATIVE(futex, &answered->word, FUTEX_WAKE, 1);
}

/* Prepare a slot for a new owner, which does not wait there yet, so that the new owner does not take an answer for the
 * last owner as its own. */
void slot_reset(void *shared, uint32_t slot)
{
    slot_at(shared, slot)->word = SLOT_WAITS;
}

int64_t slot_tid(void *shared, uint32_t slot)
{
    return slot_at(shared, slot)->value;
}

/* Wait until the doorbell has been rung since it was `seen`, or until patience ends. A ring wakes the server only if
 * `listens` says that it sleeps. */
void doorbell_wait(void *shared, uint32_t seen, int64_t patience_ns)
{
    struct simunix_clock_page *page = shared;
    struct kernel_timespec patience = {patience_ns / 1000000000, patience_ns % 1000000000};

    __atomic_store_n(&page->listens, 1, __ATOMIC_SEQ_CST);
    NATIVE(futex, &page->doorbell, FUTEX_WAIT, seen, &patience);
    __atomic_store_n(&page->listens, 0, __ATOMIC_SEQ_CST);
}
