/* Giving the turn to an actor. */
#ifndef SIMUNIX_TURN_GIVE_H
#define SIMUNIX_TURN_GIVE_H

#include "turn/core.h"

int give(struct turn_core *core, struct turn_actor *actor, int is_unsettled);

#endif
