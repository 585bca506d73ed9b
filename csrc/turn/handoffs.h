/* Hand-offs: threads have given the turn to each other without the server, which now learns which actor has the turn,
 * and for what the other actors wait. Or the actor with the turn has woken other threads of its process at a futex
 * while more actors were ready: the woken threads join the end of the run queue. */
#ifndef SIMUNIX_TURN_HANDOFFS_H
#define SIMUNIX_TURN_HANDOFFS_H

#include "turn/core.h"

/* cffi: begin */
/* Why reported hand-offs are impossible. */
enum handoffs_lie {
    HANDOFFS_TRUE,
    HANDOFFS_TOO_MANY,
    HANDOFFS_OF_NOBODY,
    HANDOFFS_OF_ANOTHER_PROCESS,
    HANDOFFS_TWICE,
    HANDOFFS_OF_ONE_THAT_CANNOT_RUN,
    HANDOFFS_WITHOUT_THE_HOLDER,
    HANDOFFS_OF_ANOTHER_WAIT
};

int handoffs_told(struct turn_core *core, struct turn_actor *runner, const struct turn_outbox *outbox);
int handoffs_catch_up(struct turn_core *core, struct turn_actor *runner);
/* cffi: end */

#endif
