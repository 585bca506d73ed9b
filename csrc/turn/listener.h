/* Writes how far the actor with the turn may move the clock without the server; and handles the doorbell, at which the
 * server waits for a message meanwhile. */
#ifndef SIMUNIX_TURN_LISTENER_H
#define SIMUNIX_TURN_LISTENER_H

#include "turn/core.h"

/* cffi: begin */
void turn_allow(struct turn_core *core, int is_unsettled);
struct turn_actor *turn_runner(const struct turn_core *core);
int turn_hear(struct turn_core *core, int64_t patience_ns);
void turn_outbox_take(void *shared, struct turn_outbox *outbox);
/* cffi: end */

#endif
