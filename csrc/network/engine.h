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

/* The network belongs to the caller, who may have other flows in it. With `compatible`, flows depart from the formulas
 * as SimGrid's flows do (flows.h). */
engine *engine_new(network *net, double window, int compatible);
void engine_free(engine *of);

/* Add a transfer that begins at `start` (s), which must not be in the past. Returns its number: 0, 1, 2 ... */
int engine_add(engine *of, int route, double start, double bytes, double latency_factor, double bandwidth_factor, double rate,
               double weight);

double engine_next(engine *of); /* returns the moment (s) of the next event; infinity if none is due */
/* Move the clock to `moment` (s), and let all events before `moment` happen; if `inclusive`, also those at `moment`.
 * Returns how many transfers have ended. */
int engine_advance(engine *of, double moment, int inclusive);
/* Move the clock to `moment` (s), before which nothing is due, and let all events of that instant happen. */
void engine_instant(engine *of, double moment);
double engine_now(const engine *of);
int engine_unfinished(const engine *of); /* returns the number of transfers that have not ended */
void engine_cancel(engine *of, int transfer);
/* engine_take_end returns the next transfer that has ended and was not returned before, in the order of the ends; -1:
 * none. Only transfers that end after engine_tell_ends are returned. */
void engine_tell_ends(engine *of);
int engine_take_end(engine *of);
void engine_hold(engine *of, int transfer); /* from now on, neither the latency of the transfer passes nor do its bytes move */
/* undo engine_hold: the rest of the latency passes, and the rest of the bytes move */
void engine_go_on(engine *of, int transfer);
void engine_set_weight(engine *of, int transfer, double weight);
/* From now on, whenever the clock moves, count the moved bytes of this transfer in whole numbers, as SimGrid's disks do
 * (disk_s19.cpp). */
void engine_count_whole(engine *of, int transfer);
int engine_state(const engine *of, int transfer);
/* returns the moment (s) at which the transfer has ended; infinity if it has not */
double engine_finish(const engine *of, int transfer);
double engine_remaining(const engine *of, int transfer);
double engine_rate(engine *of, int transfer);

/* Compute all rates anew, because the caller has changed its own flows in the network. engine_take_other returns, one
 * by one, the caller's flows whose rates have changed since, or because a transfer has begun or ended; -1: no more. */
void engine_share(engine *of);
int engine_take_other(engine *of);

/* Change a link now. Transfers over a link that goes down fail. */
void engine_set_bandwidth(engine *of, int link, double bandwidth);
void engine_set_latency(engine *of, int link, double latency);
void engine_reserve(engine *of, int link, double amount); /* take `amount` of the bandwidth away from all flows */
void engine_set_state(engine *of, int link, int is_on);
/* cffi: end */

#endif
