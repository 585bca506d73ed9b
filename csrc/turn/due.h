/* Finds what is due next: the deadlines and events of the timeline and the deadlines of the timer queue, in one order. */
#ifndef SIMUNIX_TURN_DUE_H
#define SIMUNIX_TURN_DUE_H

#include "turn/waits/parking.h"

/* cffi: begin */
enum due_step { DUE_NOTHING, DUE_EVENT, DUE_ALARM, DUE_TIE };

int64_t due_next(const struct timeline *timeline, void *shared);
int due_step(struct timeline *timeline, void *shared, struct parking *parking, int64_t now_ns, uint32_t *which);
struct turn_actor *due_first(const struct timeline *timeline, void *shared, const struct parking *parking);
void due_settle(struct timeline *timeline, void *shared, struct parking *parking, int is_behind);
/* cffi: end */

#endif
