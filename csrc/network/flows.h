/* Flows over routes of links: what a flow model makes of latency and bandwidth, on top of the max-min solver.
 *
 * With S = weight_s, gamma = tcp_gamma, BF and LF = the flow's bandwidth and latency factor, and lat = the latency of its route:
 *
 *     before its bytes move     LF * lat
 *     penalty                   (lat + sum over the route of S / bandwidth) / weight
 *     bound                     min(rate / BF, gamma / (2 * lat) / BF)
 *     weight on a link          1 for each time that the route has it, cross_traffic for each time that the way back has it
 *     bytes per second          BF * x
 *
 * Sources: Velho, Legrand, "Accuracy study and improvement of network simulation in the SimGrid framework", SIMUTools 2009 (LV08: S,
 * BF, LF); Casanova, Marchal, "A network model for simulation of grid application", RR-2002-40 (the window bound, CM02); Velho,
 * Schnorr, Casanova, Legrand, "On the validity of flow-level TCP network models", TOMACS 2013 (cross-traffic).
 *
 * SimGrid 3.32 departs from this; `compatible` does as it does:
 *   - gamma bounds x, so that BF is taken off once more;
 *   - the bound (bandwidths of the route, window and rate) is frozen when the flow begins and only falls afterwards;
 *   - the penalty is 1 where LF * lat is 0, whatever S; and with S = 0 flows still share inversely to their latencies, where
 *     we share equally;
 *   - a flow whose way back is off begins all the same.
 */
#ifndef SIMUNIX_FLOWS_H
#define SIMUNIX_FLOWS_H

/* cffi: begin */
typedef struct network network;

enum { LINK_SHARED, LINK_FAT_PIPE };

network *network_new(double weight_s, double tcp_gamma, double cross_traffic, int compatible);
void network_free(network *net);

/* Links and routes are numbered 0, 1, 2 ... A route has latency of its own besides its links' (coordinates in a plane). */
int network_add_link(network *net, double bandwidth, double latency, int policy, int concurrency);
int network_add_route(network *net, int count, const int *links, int back_count, const int *back, double latency);
void network_unbind_route(network *net, int route); /* no TCP window: it carries datagrams */
double network_route_latency(const network *net, int route);
double network_alone(const network *net, int route, double bandwidth_factor); /* bytes per second of a flow with all to itself */

/* A flow is still until it is started. Numbers are used again after network_remove. `rate` and gamma: 0 for none. */
int network_add(network *net, int route, double latency_factor, double bandwidth_factor, double rate, double weight);
void network_remove(network *net, int flow);
void network_set_weight(network *net, int flow, double weight);
void network_start(network *net, int flow);
void network_stop(network *net, int flow);
double network_delay(const network *net, int flow); /* LF * lat, now */
double network_rate(const network *net, int flow);  /* bytes per second, as of the last network_share */
int network_is_cut(const network *net, int flow);   /* a link that it needs is off */
int network_uses(const network *net, int flow, int link); /* there or back */

/* Changes of a link; what flows over it is changed at the next network_share. */
void network_set_bandwidth(network *net, int link, double bandwidth);
void network_set_latency(network *net, int link, double latency);
void network_set_state(network *net, int link, int is_on);
double network_load(const network *net, int link); /* bytes per second, acknowledgements included, before BF */

/* Give flows their rates again: how many have changed, and which. */
int network_share(network *net);
const int *network_changed(const network *net);
long network_work(const network *net); /* flows that got a rate, over all calls */
/* cffi: end */

#endif
