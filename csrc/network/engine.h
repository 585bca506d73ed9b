/* A network with a clock of its own, in seconds: flows begin, wait for their latency, move their bytes, and end.
 *
 * Events that are not further apart than `window` are one instant: all events of an instant happen, then rates are computed
 * once. Within an instant, transfers come in the order in which they were added. Invariant: `remaining` bytes of a transfer had
 * not moved at `updated`, and have been moving at `rate` since; so only a change of its rate touches a transfer. */
#ifndef SIMUNIX_ENGINE_H
#define SIMUNIX_ENGINE_H

#include "flows.h"

/* cffi: begin */
typedef struct engine engine;

enum { TRANSFER_WAITING, TRANSFER_LATENCY, TRANSFER_MOVING, TRANSFER_DONE, TRANSFER_FAILED, TRANSFER_CANCELLED, TRANSFER_HELD };

/* The network remains the caller's, who may have flows of its own in it. With `compatible` flows depart from the formulas as
 * SimGrid's do (flows.h). */
engine *engine_new(network *net, double window, int compatible);
void engine_free(engine *of);

/* A transfer begins at `start`, which is not in the past; transfers are numbered 0, 1, 2 ... */
int engine_add(engine *of, int route, double start, double bytes, double latency_factor, double bandwidth_factor, double rate,
               double weight);

double engine_next(engine *of); /* the moment of the next event, infinite if none is due */
/* Move the clock to `moment`, through all events before it (at it, too, if `inclusive`); returns how many transfers have ended.
 * */
int engine_advance(engine *of, double moment, int inclusive);
/* Move the clock to `moment`, before which nothing is due, and let all events of that instant happen. */
void engine_instant(engine *of, double moment);
double engine_now(const engine *of);
int engine_unfinished(const engine *of); /* transfers that have not ended */
void engine_cancel(engine *of, int transfer);
/* The next transfer that has ended and has not been told of, in the order of the ends; -1: none. Only after engine_tell_ends,
 * and only of transfers that end from then on. */
void engine_tell_ends(engine *of);
int engine_take_end(engine *of);
void engine_hold(engine *of, int transfer);  /* from now on it neither waits nor moves */
void engine_go_on(engine *of, int transfer); /* … until now, with the latency and bytes that were left */
void engine_set_weight(engine *of, int transfer, double weight);
/* Whenever the clock moves, count what has moved of this transfer in whole bytes, as SimGrid's disks do (disk_s19.cpp). */
void engine_count_whole(engine *of, int transfer);
int engine_state(const engine *of, int transfer);
double engine_finish(const engine *of, int transfer); /* when it ended, infinite if it has not */
double engine_remaining(const engine *of, int transfer);
double engine_rate(engine *of, int transfer);

/* Compute rates anew, after the caller has changed flows of its own. The caller's flows that have other rates since then, or
 * since a transfer has begun or ended, are told one by one; -1: no more. */
void engine_share(engine *of);
int engine_take_other(engine *of);

/* Change a link now. Transfers over a link that goes off fail. */
void engine_set_bandwidth(engine *of, int link, double bandwidth);
void engine_set_latency(engine *of, int link, double latency);
void engine_reserve(engine *of, int link, double amount); /* so much of the bandwidth is nobody's */
void engine_set_state(engine *of, int link, int is_on);
/* cffi: end */

#endif
