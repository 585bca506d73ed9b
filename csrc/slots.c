/* How the server answers a parked thread: in its slot of the shared memory. */
#include "slots.h"

#include "kernel.h"
#include "protocol.h"

void slot_answer(void *shared, uint32_t slot, int32_t wake, int64_t value)
{
    struct simunix_slot *answered = (struct simunix_slot *)((char *)shared + SIMUNIX_SLOTS_OFFSET) + slot % SIMUNIX_SLOTS;

    answered->wake = wake;
    answered->value = value;
    __atomic_store_n(&answered->word, SLOT_FROM_SERVER, __ATOMIC_RELEASE);
    NATIVE(futex, &answered->word, FUTEX_WAKE, 1);
}
