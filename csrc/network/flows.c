/* Flows over routes of links: see flows.h for the formulas. A flow and its variable in the solver have the same number. */
#include "flows.h"

#include "maxmin.h"
#include "storage.h"

#include <math.h>
#include <string.h>

struct wire { /* a link */
    double bandwidth, latency, reserved;
    int is_fat_pipe, is_disk, is_on;
    int claims;
};

struct route {
    double latency;       /* latency in addition to the links' latencies */
    struct numbers there; /* the links as given, with repetitions */
    struct numbers links; /* the links of both ways, each link once */
    double *weights;      /* of `links` */
    int has_no_window;
    int has_only_disks;
    int crosses_disks; /* the route has both disks and links */
    int is_task;
};

struct flow {
    double latency_factor, bandwidth_factor, rate, weight;
    double frozen; /* for a compatible flow: its bound when it was added; for others: infinity */
    int route;
    int is_started, is_compatible;
};

struct network {
    double weight_s, tcp_gamma, cross_traffic;
    int shares_bottlenecks;
    int has_simgrids_penalties; /* a compatible flow has been added */
    maxmin *system;
    struct wire *wires;
    int wire_count, wire_room;
    struct route *routes;
    int route_count, route_room;
    struct flow *flows;
    int flow_count, flow_room;
};

network *network_new(double weight_s, double tcp_gamma, double cross_traffic)
{
    network *net = allocate(NULL, 1, sizeof *net);

    memset(net, 0, sizeof *net);
    net->weight_s = weight_s;
    net->tcp_gamma = tcp_gamma;
    net->cross_traffic = cross_traffic;
    net->system = maxmin_new();
    return net;
}

void network_free(network *net)
{
    for (int i = 0; i < net->route_count; i++) {
        free(net->routes[i].there.item);
        free(net->routes[i].links.item);
        free(net->routes[i].weights);
    }
    maxmin_free(net->system);
    free(net->wires);
    free(net->routes);
    free(net->flows);
    free(net);
}

void network_share_bottlenecks(network *net)
{
    net->shares_bottlenecks = 1;
    maxmin_share_bottlenecks(net->system);
}

int network_add_link(network *net, double bandwidth, double latency, int policy, int concurrency)
{
    net->wires = make_room(net->wires, net->wire_count, &net->wire_room, sizeof *net->wires);
    net->wires[net->wire_count++] = (struct wire){bandwidth, latency, 0, policy == LINK_FAT_PIPE, policy == LINK_DISK, 1, 0};
    return maxmin_add_link(net->system, bandwidth, policy == LINK_FAT_PIPE, concurrency);
}

/* Routes */

/* Add a use of a link to a route. Uses of a shared link add up. A fat pipe limits each use alone, so only the largest use
 * counts. */
static void add_weight(const network *net, struct route *route, int link, double weight)
{
    int place = 0;

    while (place < route->links.count && route->links.item[place] != link)
        place++;
    if (place == route->links.count) {
        numbers_push(&route->links, link);
        route->weights[place] = 0;
    }
    if (net->wires[link].is_fat_pipe)
        route->weights[place] = fmax(route->weights[place], weight);
    else
        route->weights[place] += weight;
}

int network_add_route(network *net, int count, const int *links, int back_count, const int *back, double latency)
{
    struct route *route;

    net->routes = make_room(net->routes, net->route_count, &net->route_room, sizeof *net->routes);
    route = &net->routes[net->route_count];
    *route = (struct route){.latency = latency, .has_only_disks = count > 0};
    route->weights = allocate(NULL, (size_t)count + (size_t)back_count, sizeof *route->weights);
    for (int i = 0; i < count; i++) {
        numbers_push(&route->there, links[i]);
        add_weight(net, route, links[i], 1);
        route->has_only_disks = route->has_only_disks && net->wires[links[i]].is_disk;
        route->crosses_disks = route->crosses_disks || net->wires[links[i]].is_disk;
    }
    route->crosses_disks = route->crosses_disks && !route->has_only_disks;
    route->has_no_window = route->has_only_disks;
    for (int i = 0; net->cross_traffic > 0 && i < back_count; i++)
        add_weight(net, route, back[i], net->cross_traffic);
    return net->route_count++;
}

int network_add_task(network *net, int count, const int *links, const double *weights, double latency)
{
    int number = network_add_route(net, 0, NULL, 0, NULL, latency);
    struct route *route = &net->routes[number];

    route->is_task = route->has_no_window = 1;
    route->weights = allocate(route->weights, (size_t)count, sizeof *route->weights);
    for (int i = 0; i < count; i++)
        add_weight(net, route, links[i], weights[i]);
    return number;
}

void network_unbind_route(network *net, int number)
{
    net->routes[number].has_no_window = 1;
}

double network_route_latency(const network *net, int number)
{
    const struct route *route = &net->routes[number];
    double latency = route->latency;

    for (int i = 0; i < route->there.count; i++)
        latency += net->wires[route->there.item[i]].latency;
    return latency;
}

void network_claim(network *net, int number, int by)
{
    const struct route *route = &net->routes[number];

    for (int i = 0; i < route->links.count; i++)
        net->wires[route->links.item[i]].claims += by;
}

int network_is_claimed(const network *net, int number)
{
    const struct route *route = &net->routes[number];

    for (int i = 0; i < route->links.count; i++)
        if (net->wires[route->links.item[i]].claims > 0)
            return 1;
    return 0;
}

/* The flow model's values for a flow */

static double penalty_of(const network *net, const struct flow *flow, double latency)
{
    const struct route *route = &net->routes[flow->route];
    double penalty = latency;

    if (route->has_only_disks || (net->has_simgrids_penalties ? flow->latency_factor * latency <= 0 : net->weight_s <= 0))
        return 1 / flow->weight;
    for (int i = 0; i < route->there.count; i++)
        if (!net->wires[route->there.item[i]].is_disk)
            penalty += net->weight_s / net->wires[route->there.item[i]].bandwidth;
    return (penalty > 0 ? penalty : 1) / flow->weight;
}

double network_route_penalty(const network *net, int number)
{
    const struct flow alone = {.latency_factor = 1, .bandwidth_factor = 1, .weight = 1, .route = number};

    return penalty_of(net, &alone, network_route_latency(net, number));
}

static double bound_of(const network *net, const struct flow *flow, double latency)
{
    double bound = INFINITY;

    if (flow->rate > 0)
        bound = flow->rate / flow->bandwidth_factor;
    if (net->tcp_gamma > 0 && latency > 0 && !net->routes[flow->route].has_no_window)
        bound = fmin(bound, net->tcp_gamma / (2 * latency) / (flow->is_compatible ? 1 : flow->bandwidth_factor));
    return bound;
}

static double narrowest(const network *net, const struct route *route)
{
    double bandwidth = INFINITY;

    for (int i = 0; i < route->there.count; i++)
        if (!route->crosses_disks || !net->wires[route->there.item[i]].is_disk)
            bandwidth = fmin(bandwidth, net->wires[route->there.item[i]].bandwidth);
    return bandwidth;
}

/* Return how much bandwidth of a link a flow takes for each unit of its rate x. On a route over links and disks, a disk
 * moves bytes:
 * the bandwidth factor of links does not apply to it. */
static double weight_on(const network *net, const struct route *route, int place, double bandwidth_factor)
{
    int is_bytes = route->crosses_disks && net->wires[route->links.item[place]].is_disk;

    return is_bytes ? bandwidth_factor : route->weights[place];
}

static void update_terms(network *net, int number)
{
    struct flow *flow = &net->flows[number];
    double latency = network_route_latency(net, flow->route);
    double bound = fmin(bound_of(net, flow, latency), flow->frozen);

    maxmin_set_terms(net->system, number, penalty_of(net, flow, latency), bound);
}

/* Flows */

static void take_simgrids_penalties(network *net)
{
    net->has_simgrids_penalties = 1;
    for (int flow = 0; flow < net->flow_count; flow++)
        if (net->flows[flow].is_started)
            update_terms(net, flow);
}

int network_add(network *net, int route, double latency_factor, double bandwidth_factor, double rate, double weight,
                int compatible)
{
    const struct route *over = &net->routes[route];
    double *weights = over->weights;
    struct flow *flow;
    int number;

    if (over->crosses_disks) {
        weights = allocate(NULL, (size_t)over->links.count, sizeof *weights);
        for (int i = 0; i < over->links.count; i++)
            weights[i] = weight_on(net, over, i, bandwidth_factor);
    }
    number = maxmin_add(net->system, over->links.count, over->links.item, weights, 1, INFINITY);
    if (weights != over->weights)
        free(weights);
    net->flows = make_room(net->flows, number, &net->flow_room, sizeof *net->flows);
    if (number == net->flow_count)
        net->flow_count++;
    flow = &net->flows[number];
    *flow = (struct flow){latency_factor, bandwidth_factor, rate, weight, INFINITY, route, 0, compatible};
    if (compatible && !net->has_simgrids_penalties)
        take_simgrids_penalties(net);
    if (compatible && !net->shares_bottlenecks)
        flow->frozen = fmin(narrowest(net, over), bound_of(net, flow, network_route_latency(net, route)));
    return number;
}

void network_remove(network *net, int flow)
{
    net->flows[flow].is_started = 0;
    maxmin_remove(net->system, flow);
}

void network_set_weight(network *net, int flow, double weight)
{
    net->flows[flow].weight = weight;
    update_terms(net, flow);
}

double network_alone(const network *net, int number, double bandwidth_factor)
{
    const struct route *route = &net->routes[number];
    const struct flow alone = {.bandwidth_factor = bandwidth_factor, .weight = 1, .route = number};
    double limit = bound_of(net, &alone, network_route_latency(net, number));

    for (int i = 0; i < route->links.count; i++)
        limit = fmin(limit, net->wires[route->links.item[i]].bandwidth / weight_on(net, route, i, bandwidth_factor));
    return bandwidth_factor * limit;
}

void network_start(network *net, int flow)
{
    if (net->flows[flow].is_started)
        return;
    net->flows[flow].is_started = 1;
    update_terms(net, flow);
    maxmin_switch_on(net->system, flow);
}

void network_stop(network *net, int flow)
{
    net->flows[flow].is_started = 0;
    maxmin_switch_off(net->system, flow);
}

double network_delay(const network *net, int flow)
{
    return net->flows[flow].latency_factor * network_route_latency(net, net->flows[flow].route);
}

double network_rate(const network *net, int flow)
{
    return net->flows[flow].bandwidth_factor * maxmin_rate(net->system, flow);
}

int network_is_cut(const network *net, int flow)
{
    const struct route *route = &net->routes[net->flows[flow].route];
    const struct numbers *needed = net->flows[flow].is_compatible && !route->is_task ? &route->there : &route->links;

    for (int i = 0; i < needed->count; i++)
        if (!net->wires[needed->item[i]].is_on)
            return 1;
    return 0;
}

int network_uses(const network *net, int flow, int link)
{
    const struct route *route = &net->routes[net->flows[flow].route];

    for (int i = 0; i < route->links.count; i++)
        if (route->links.item[i] == link)
            return 1;
    return 0;
}

/* Changes of links */

static void update_users(network *net, int link)
{
    int flow;

    for (int place = 0; (flow = maxmin_user(net->system, link, place)) >= 0; place++)
        update_terms(net, flow);
}

void network_set_bandwidth(network *net, int link, double bandwidth)
{
    net->wires[link].bandwidth = bandwidth;
    maxmin_set_capacity(net->system, link, fmax(0, bandwidth - net->wires[link].reserved));
    update_users(net, link);
}

void network_reserve(network *net, int link, double amount)
{
    if (amount == net->wires[link].reserved)
        return;
    net->wires[link].reserved = amount;
    maxmin_set_capacity(net->system, link, fmax(0, net->wires[link].bandwidth - amount));
}

void network_set_latency(network *net, int link, double latency)
{
    net->wires[link].latency = latency;
    update_users(net, link);
}

void network_set_state(network *net, int link, int is_on)
{
    net->wires[link].is_on = is_on;
}

double network_load(const network *net, int link)
{
    return maxmin_load(net->system, link);
}

int network_share(network *net)
{
    return maxmin_solve(net->system);
}

const int *network_changed(const network *net)
{
    return maxmin_changed(net->system);
}

long network_work(const network *net)
{
    return maxmin_work(net->system);
}
