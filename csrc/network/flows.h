/* Flows over routes of links: computes the effects of latency and bandwidth by a flow model, on top of the max-min solver.
 *
 * With S = weight_s, gamma = tcp_gamma, BF and LF = the flow's bandwidth and latency factor, and lat = the latency of its
 * route:
 *
 *     before its bytes move     LF * lat
 *     penalty                   (lat + sum over the route of S / bandwidth) / weight
 *     bound                     min(rate / BF, gamma / (2 * lat) / BF)
 *     weight on a link          1 for each time that the route has it, cross_traffic for each time that the way back has it
 *     bytes per second          BF * x
 *
 * Sources: Velho, Legrand, "Accuracy study and improvement of network simulation in the SimGrid framework", SIMUTools 2009
 * (LV08: S, BF, LF); Casanova, Marchal, "A network model for simulation of grid application", RR-2002-40 (the window bound,
 * CM02); Velho, Schnorr, Casanova, Legrand, "On the validity of flow-level TCP network models", TOMACS 2013 (cross-traffic).
 *
 * A disk is represented by three links: one for reads, one for writes, one for both together (SimGrid's model S19). A flow
 * over disks alone is an operation on a disk: its penalty is 1 / weight, it has no window, and the latency of its route is that
 * of the operation. A flow over links and disks is a read or write of a file server for a host (SimGrid's
 * Io::streamto): disks add nothing to the flow's penalty, and the flow takes BF * x of a disk's bandwidth, which are
 * the bytes that really move.
 *
 * SimGrid 3.32 departs from these formulas; for a flow that is `compatible` this code departs in the same way:
 *   - gamma bounds x, so that the rate in bytes per second is bounded by BF * gamma / (2 * lat);
 *   - the bound (bandwidths of the route, window and rate) is frozen when the flow begins and only falls afterwards;
 *   - the penalty is 1 where LF * lat is 0, whatever S; and with S = 0 flows still share inversely to their latencies, where
 *     this code shares equally. Penalties compare flows with each other, so from the first compatible flow on, all
 *     flows have SimGrid's penalties;
 *   - a flow begins even if a link of the way back is down.
 */
#ifndef SIMUNIX_FLOWS_H
#define SIMUNIX_FLOWS_H

/* cffi: begin */
typedef struct network network;

enum { LINK_SHARED, LINK_FAT_PIPE, LINK_DISK };

network *network_new(double weight_s, double tcp_gamma, double cross_traffic);
void network_free(network *net);
/* share by fair bottleneck instead of max-min, without penalties: SimGrid's L07 */
void network_share_bottlenecks(network *net);

/* Add a link or a route, and return its number: 0, 1, 2 ... `latency` is the latency of a route in addition to its
 * links' (the distance of two hosts with coordinates). */
int network_add_link(network *net, double bandwidth, double latency, int policy, int concurrency);
int network_add_route(network *net, int count, const int *links, int back_count, const int *back, double latency);
void network_unbind_route(network *net, int route); /* remove the TCP window, for datagrams */
/* Add the use of links by a parallel task, in a network that shares by fair bottleneck (bottleneck.c), and return its
 * number. `weights` are the amounts for the whole task; a flow uses of each amount the fraction of the task that it
 * stands for. The task waits for the latency first. A link may be named several times. */
int network_add_task(network *net, int count, const int *links, const double *weights, double latency);
double network_route_latency(const network *net, int route);
double network_route_penalty(const network *net, int route); /* returns the penalty of a flow of weight 1 */
/* Returns the rate (bytes per second) of a flow that has its route to itself. */
double network_alone(const network *net, int route, double bandwidth_factor);

/* Let a caller know which links another caller of the same network uses. A caller claims the route of each of its
 * flows: `by` is 1 when the flow begins, and -1 when it ends. */
void network_claim(network *net, int route, int by);
/* returns whether a link of the route is claimed, on the way there or back */
int network_is_claimed(const network *net, int route);

/* Add a flow, which has no bandwidth until it is started, and return its number. Numbers are used again after
 * network_remove. `rate` is an upper bound of the flow's rate; 0: no bound. */
int network_add(network *net, int route, double latency_factor, double bandwidth_factor, double rate, double weight,
                int compatible);
void network_remove(network *net, int flow);
void network_set_weight(network *net, int flow, double weight);
void network_start(network *net, int flow);
void network_stop(network *net, int flow);
double network_delay(const network *net, int flow);       /* returns LF * lat with the present latency */
double network_rate(const network *net, int flow);        /* returns bytes per second, as of the last network_share */
int network_is_cut(const network *net, int flow);         /* returns whether a link that the flow needs is down */
int network_uses(const network *net, int flow, int link); /* returns whether the flow uses the link, on the way there or back */

/* Change a link. The rates of its flows change at the next network_share. */
void network_set_bandwidth(network *net, int link, double bandwidth);
void network_reserve(network *net, int link, double amount); /* take `amount` of the bandwidth away from all flows */
void network_set_latency(network *net, int link, double latency);
void network_set_state(network *net, int link, int is_on);
/* returns bytes per second, acknowledgements included, before the factor BF */
double network_load(const network *net, int link);

/* Compute the rates of flows anew. Returns how many have changed; network_changed returns which. */
int network_share(network *net);
const int *network_changed(const network *net);
long network_work(const network *net); /* returns how many rates were computed, over all calls */
/* cffi: end */

#endif
