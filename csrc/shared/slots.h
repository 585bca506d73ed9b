/* How the server gives a waiting thread its turn or an answer, in the thread's slot of the shared memory; and how the
 * server waits for the next message. */
#ifndef SIMUNIX_SLOTS_H
#define SIMUNIX_SLOTS_H

#include <stdint.h>

/* cffi: begin */
void slot_answer(void *shared, uint32_t slot, int32_t wake, int64_t value);
void slot_reset(void *shared, uint32_t slot);
int64_t slot_tid(void *shared, uint32_t slot);
void doorbell_wait(void *shared, uint32_t seen, int64_t patience_ns);
/* cffi: end */

struct simunix_slot *slot_at(void *shared, uint32_t slot);

#endif
