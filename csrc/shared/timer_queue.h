/* When the threads are due that wait for the clock, or at a futex of their own process. */
#ifndef SIMUNIX_AGENDA_H
#define SIMUNIX_AGENDA_H

#include <stdint.h>

#include "protocol.h"

/* cffi: begin */
void agenda_add(void *shared, uint32_t slot, int64_t deadline);
void agenda_remove(void *shared, uint32_t slot);
uint32_t agenda_pop(void *shared);
struct simunix_agenda *agenda_of(void *shared);
/* cffi: end */

int agenda_holds(void *shared, uint32_t slot);
unsigned agenda_due(void *shared, uint64_t now_ns, unsigned most);

#endif
