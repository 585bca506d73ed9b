/* A network with a clock of its own, in seconds: flows begin, wait for their latency, move their bytes, and end.
 *
 * Events that are not further apart than `window` are one instant: everything of an instant happens, then rates are shared once.
 * Within an instant, what was added first comes first. Rates are changed lazily: a flow's remaining bytes are brought up to date
 * when its rate changes, and completions wait in a heap. */
#ifndef SIMUNIX_ENGINE_H
#define SIMUNIX_ENGINE_H

#include "flows.h"

/* cffi: begin */
typedef struct engine engine;

enum { TRANSFER_WAITING, TRANSFER_LATENCY, TRANSFER_MOVING, TRANSFER_DONE, TRANSFER_FAILED, TRANSFER_CANCELLED };

engine *engine_new(network *net, double window); /* the network remains the caller's */
void engine_free(engine *of);

/* A transfer begins at `start`, which is not in the past; transfers are numbered 0, 1, 2 ... */
int engine_add(engine *of, int route, double start, double bytes, double latency_factor, double bandwidth_factor, double rate,
               double weight);

double engine_next(engine *of);                /* the moment of the next event, infinite if none is due */
/* Let happen what is due before `moment`, or also what is due then, and be there; how many transfers have ended. */
int engine_advance(engine *of, double moment, int inclusive);
double engine_now(const engine *of);
int engine_unfinished(const engine *of); /* transfers that have not ended */
void engine_cancel(engine *of, int transfer);
int engine_state(const engine *of, int transfer);
double engine_finish(const engine *of, int transfer); /* when it ended, infinite if it has not */
double engine_remaining(const engine *of, int transfer);
double engine_rate(engine *of, int transfer);

/* Changes of a link, now. What flows over a link that goes off fails. */
void engine_set_bandwidth(engine *of, int link, double bandwidth);
void engine_set_latency(engine *of, int link, double latency);
void engine_set_state(engine *of, int link, int is_on);
/* cffi: end */

#endif
