/* The timer queue: the deadlines of threads that wait for the clock, or at a futex of their own process. */
#ifndef SIMUNIX_TIMER_QUEUE_H
#define SIMUNIX_TIMER_QUEUE_H

#include <stdint.h>

#include "shared/protocol.h"

/* cffi: begin */
void timer_queue_add(void *shared, uint32_t slot, int64_t deadline);
void timer_queue_remove(void *shared, uint32_t slot);
uint32_t timer_queue_pop(void *shared);
struct simunix_timer_queue *timer_queue_of(void *shared);
/* cffi: end */

int timer_queue_holds(void *shared, uint32_t slot);
unsigned timer_queue_due(void *shared, uint64_t now_ns, unsigned most);

#endif
