/* A network with a clock of its own: see engine.h. Transfers are numbered, and wait for their next event in a queue. */
#include "engine.h"

#include "queue.h"
#include "storage.h"

#include <math.h>
#include <string.h>

struct transfer {
    double start, bytes, latency_factor, bandwidth_factor, rate_cap, weight;
    double remaining; /* at `updated` */
    double updated, rate, finish;
    int route, state;
    double wait_left; /* the rest of the latency, while the transfer is held */
    int flow;         /* the flow of the transfer in the network, while it has one */
};

struct engine {
    network *net;
    double window, now;
    int compatible;
    struct transfer *transfers;
    int count, room, ended;
    int *carried; /* the transfer of each flow of the network; -1: the flow does not belong to the engine */
    int carried_room;
    struct numbers others; /* flows that do not belong to the engine, and whose rates have changed */
    struct numbers whole;  /* transfers that count whole bytes */
    int is_due;            /* something has changed since rates were computed */
    struct queue queue;
    int *ends; /* transfers in the order of their ends; the ends of those before index `told` were reported */
    int tells_ends, end_count, end_room, told;
};

engine *engine_new(network *net, double window, int compatible)
{
    engine *of = allocate(NULL, 1, sizeof *of);

    memset(of, 0, sizeof *of);
    of->net = net;
    of->window = window;
    of->compatible = compatible;
    return of;
}

void engine_free(engine *of)
{
    queue_free(&of->queue);
    free(of->transfers);
    free(of->carried);
    free(of->others.item);
    free(of->whole.item);
    free(of->ends);
    free(of);
}

int engine_add(engine *of, int route, double start, double bytes, double latency_factor, double bandwidth_factor, double rate,
               double weight)
{
    int number = of->count++;

    of->transfers = make_room(of->transfers, number, &of->room, sizeof *of->transfers);
    of->transfers[number] = (struct transfer){.start = start,
                                              .bytes = bytes,
                                              .latency_factor = latency_factor,
                                              .bandwidth_factor = bandwidth_factor,
                                              .rate_cap = rate,
                                              .weight = weight,
                                              .remaining = bytes,
                                              .finish = INFINITY,
                                              .route = route,
                                              .flow = -1};
    network_claim(of->net, route, 1);
    queue_set(&of->queue, number, start);
    return number;
}

double engine_remaining(const engine *of, int number)
{
    const struct transfer *transfer = &of->transfers[number];

    return fmax(0, transfer->remaining - transfer->rate * fmax(0, of->now - transfer->updated));
}

/* The states of a transfer */

static void note_end(engine *of, int number)
{
    of->ends = make_room(of->ends, of->end_count, &of->end_room, sizeof *of->ends);
    of->ends[of->end_count++] = number;
}

static void drop_flow(engine *of, struct transfer *transfer)
{
    if (transfer->flow < 0)
        return;
    network_remove(of->net, transfer->flow);
    of->carried[transfer->flow] = -1;
    transfer->flow = -1;
    of->is_due = 1;
}

static void end(engine *of, int number, int state, double moment)
{
    struct transfer *transfer = &of->transfers[number];

    drop_flow(of, transfer);
    network_claim(of->net, transfer->route, -1);
    transfer->remaining = state == TRANSFER_DONE ? 0 : engine_remaining(of, number);
    transfer->rate = 0;
    transfer->state = state;
    transfer->finish = moment;
    of->ended++;
    queue_remove(&of->queue, number);
    if (of->tells_ends)
        note_end(of, number);
}

static void carry(engine *of, int flow, int number)
{
    while (flow >= of->carried_room) {
        int filled = of->carried_room;

        of->carried = make_room(of->carried, filled, &of->carried_room, sizeof *of->carried);
        while (filled < of->carried_room)
            of->carried[filled++] = -1;
    }
    of->carried[flow] = number;
}

static void begin(engine *of, int number, double moment)
{
    struct transfer *transfer = &of->transfers[number];
    int flow = network_add(of->net, transfer->route, transfer->latency_factor, transfer->bandwidth_factor, transfer->rate_cap,
                           transfer->weight, of->compatible);

    carry(of, flow, number);
    transfer->flow = flow;
    transfer->state = TRANSFER_LATENCY;
    if (network_is_cut(of->net, flow))
        end(of, number, TRANSFER_FAILED, moment);
    else
        queue_set(&of->queue, number, moment + network_delay(of->net, flow));
}

static void move(engine *of, int number, double moment)
{
    struct transfer *transfer = &of->transfers[number];

    if (transfer->bytes <= 0) {
        end(of, number, TRANSFER_DONE, moment);
        return;
    }
    transfer->state = TRANSFER_MOVING;
    transfer->updated = moment;
    queue_set(&of->queue, number, INFINITY);
    network_start(of->net, transfer->flow);
    of->is_due = 1;
}

static void happen(engine *of, int number, double moment)
{
    switch (of->transfers[number].state) {
    case TRANSFER_WAITING:
        begin(of, number, moment);
        break;
    case TRANSFER_LATENCY:
        move(of, number, moment);
        break;
    default:
        end(of, number, TRANSFER_DONE, moment);
    }
}

/* The rates of transfers */

static void change_rate(engine *of, int number, double rate)
{
    struct transfer *transfer = &of->transfers[number];

    transfer->remaining = engine_remaining(of, number);
    transfer->updated = fmax(transfer->updated, of->now);
    transfer->rate = rate;
    queue_set(&of->queue, number, rate > 0 ? transfer->updated + transfer->remaining / rate : INFINITY);
}

static void share(engine *of)
{
    int count = of->is_due ? network_share(of->net) : 0;
    const int *changed = network_changed(of->net);

    for (int i = 0; i < count; i++) {
        int number = changed[i] < of->carried_room ? of->carried[changed[i]] : -1;

        if (number >= 0)
            change_rate(of, number, network_rate(of->net, changed[i]));
        else
            numbers_push(&of->others, changed[i]);
    }
    of->is_due = 0;
}

void engine_share(engine *of)
{
    of->is_due = 1;
    share(of);
}

int engine_take_other(engine *of)
{
    return of->others.count > 0 ? of->others.item[--of->others.count] : -1;
}

void engine_count_whole(engine *of, int number)
{
    numbers_push(&of->whole, number);
}

/* Count the moved bytes of some transfers (engine_count_whole) in whole numbers, because the clock has moved. */
static void count_whole(engine *of)
{
    int kept = 0;

    for (int i = 0; i < of->whole.count; i++) {
        int number = of->whole.item[i];
        struct transfer *transfer = &of->transfers[number];

        if (transfer->state >= TRANSFER_DONE && transfer->state != TRANSFER_HELD)
            continue;
        of->whole.item[kept++] = number;
        if (transfer->state != TRANSFER_MOVING || transfer->rate <= 0 || transfer->updated >= of->now)
            continue;
        transfer->remaining = fmax(0, transfer->remaining - rint(transfer->rate * (of->now - transfer->updated)));
        transfer->updated = of->now;
        queue_set(&of->queue, number, of->now + transfer->remaining / transfer->rate);
    }
    of->whole.count = kept;
}

/* The clock */

double engine_next(engine *of)
{
    share(of);
    return queue_next(&of->queue);
}

double engine_now(const engine *of)
{
    return of->now;
}

int engine_advance(engine *of, double moment, int inclusive)
{
    double last = inclusive ? moment : nextafter(moment, -INFINITY), next;
    int ended = of->ended;

    while ((next = engine_next(of)) <= last && next < INFINITY) {
        double until = fmin(last, next + of->window);

        of->now = next;
        while ((next = queue_next(&of->queue)) <= until && next < INFINITY)
            happen(of, queue_top(&of->queue), next);
    }
    if (moment < INFINITY)
        of->now = fmax(of->now, moment);
    count_whole(of);
    return of->ended - ended;
}

void engine_instant(engine *of, double moment)
{
    double next;

    of->now = fmax(of->now, moment);
    count_whole(of);
    while ((next = engine_next(of)) <= of->now + of->window && next < INFINITY)
        happen(of, queue_top(&of->queue), fmax(next, of->now));
}

int engine_unfinished(const engine *of)
{
    return of->count - of->ended;
}

void engine_cancel(engine *of, int number)
{
    if (of->transfers[number].state < TRANSFER_DONE || of->transfers[number].state == TRANSFER_HELD)
        end(of, number, TRANSFER_CANCELLED, of->now);
}

void engine_tell_ends(engine *of)
{
    of->tells_ends = 1;
}

int engine_take_end(engine *of)
{
    if (of->told < of->end_count)
        return of->ends[of->told++];
    of->told = of->end_count = 0;
    return -1;
}

void engine_hold(engine *of, int number)
{
    struct transfer *transfer = &of->transfers[number];

    if (transfer->state != TRANSFER_LATENCY && transfer->state != TRANSFER_MOVING)
        return;
    transfer->wait_left = transfer->state == TRANSFER_LATENCY ? queue_moment(&of->queue, number) - of->now : 0;
    transfer->remaining = engine_remaining(of, number);
    transfer->rate = 0;
    transfer->state = TRANSFER_HELD;
    drop_flow(of, transfer);
    queue_set(&of->queue, number, INFINITY);
}

void engine_go_on(engine *of, int number)
{
    struct transfer *transfer = &of->transfers[number];

    if (transfer->state != TRANSFER_HELD)
        return;
    transfer->bytes = transfer->remaining;
    begin(of, number, of->now);
    if (transfer->state != TRANSFER_LATENCY)
        return;
    if (transfer->wait_left > 0)
        queue_set(&of->queue, number, of->now + transfer->wait_left);
    else
        move(of, number, of->now);
}

void engine_set_weight(engine *of, int number, double weight)
{
    of->transfers[number].weight = weight;
    if (of->transfers[number].flow >= 0)
        network_set_weight(of->net, of->transfers[number].flow, weight);
    of->is_due = 1;
}

int engine_state(const engine *of, int number)
{
    return of->transfers[number].state;
}

double engine_finish(const engine *of, int number)
{
    return of->transfers[number].finish;
}

double engine_rate(engine *of, int number)
{
    share(of);
    return of->transfers[number].rate;
}

/* Changes of links */

void engine_set_bandwidth(engine *of, int link, double bandwidth)
{
    network_set_bandwidth(of->net, link, bandwidth);
    of->is_due = 1;
}

void engine_set_latency(engine *of, int link, double latency)
{
    network_set_latency(of->net, link, latency);
    of->is_due = 1;
}

void engine_reserve(engine *of, int link, double amount)
{
    network_reserve(of->net, link, amount);
    of->is_due = 1;
}

void engine_set_state(engine *of, int link, int is_on)
{
    network_set_state(of->net, link, is_on);
    for (int i = 0; !is_on && i < of->count; i++)
        if (of->transfers[i].flow >= 0 && network_uses(of->net, of->transfers[i].flow, link))
            end(of, i, TRANSFER_FAILED, of->now);
}
