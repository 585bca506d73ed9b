/* How the server answers a parked thread: in its slot of the shared memory. */
#ifndef SIMUNIX_SLOTS_H
#define SIMUNIX_SLOTS_H

#include <stdint.h>

/* cffi: begin */
void slot_answer(void *shared, uint32_t slot, int32_t wake, int64_t value);
/* cffi: end */

#endif
