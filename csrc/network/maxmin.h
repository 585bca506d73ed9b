/* Weighted max-min fair sharing of links among variables (the rates of flows), solved again only where something has changed.
 *
 * The problem, in SimGrid's terms. A variable v has a penalty p, a bound b and, for each link that it uses, a weight w. A
 * common level u is raised from 0; every variable has the rate x = u/p, until it is held at x = b, or until one of its links is
 * full:
 *
 *     a shared link:   the sum of w * x over its users is at most its capacity
 *     a fat pipe:      each single w * x is at most its capacity
 *
 * Then the variable keeps its rate, and the other variables rise further (progressive filling: Bertsekas and Gallager,
 * Data Networks, 6.5.2; with weights and bounds: Casanova, Giersch, Legrand, Quinson, Suter, "Versatile, scalable and
 * accurate simulation of distributed applications and platforms", JPDC 2014).
 *
 * A link that is not full even when all of its users have their limits holds no variable back. Such a link is not part
 * of a solve, and no change spreads over it. So only that part of the system is solved again that is connected to a
 * change by links which limit variables. */
#ifndef SIMUNIX_MAXMIN_H
#define SIMUNIX_MAXMIN_H

struct maxmin;

/* cffi: begin */
typedef struct maxmin maxmin;

maxmin *maxmin_new(void);
void maxmin_free(maxmin *system);
void maxmin_share_bottlenecks(maxmin *system); /* share by fair bottleneck instead: see bottleneck.c */

/* Add a link, and return its number: 0, 1, 2 ... At most `concurrency` variables of weight 1 or more use the link at a
 * time; any number of variables if it is negative. */
int maxmin_add_link(maxmin *system, double capacity, int is_fat_pipe, int concurrency);
void maxmin_set_capacity(maxmin *system, int link, double capacity);
/* returns the sum of w * x over the link's users; for a fat pipe the largest w * x */
double maxmin_load(const maxmin *system, int link);

/* Add a variable, which is off, and return its number. Numbers are used again after maxmin_remove. No link may be named
 * twice. */
int maxmin_add(maxmin *system, int count, const int *links, const double *weights, double penalty, double bound);
void maxmin_remove(maxmin *system, int variable);
void maxmin_set_terms(maxmin *system, int variable, double penalty, double bound);
void maxmin_switch_on(maxmin *system, int variable); /* at once, or as soon as the concurrency of its links allows it */
void maxmin_switch_off(maxmin *system, int variable);
double maxmin_rate(const maxmin *system, int variable); /* returns the rate as of the last solve; 0 if the variable is off */

/* Compute the rates that are affected by changes since the last call. Returns how many have changed; maxmin_changed
 * returns which. */
int maxmin_solve(maxmin *system);
const int *maxmin_changed(const maxmin *system);
long maxmin_work(const maxmin *system); /* returns how many rates were computed, over all calls */
/* cffi: end */

/* Returns the variable at a place (0, 1, 2 ...) among those that use a link and are on; -1 behind the last. For
 * csrc/network/ only. */
int maxmin_user(const maxmin *system, int link, int place);

#endif
