/* A rank: carries out the driver's orders, and serves the transfers of other ranks meanwhile. */
#include "job.h"

#include <stdlib.h>

static const char driver[] = "the driver";

static struct rank {
    struct source control; /* the descriptors that are ready when an order comes are handled first */
    struct endpoint *peers;
    uint32_t busy; /* the number of the order's transfers and computations that are not done */
    bool is_dismissed;
} self;

static void report_if_done(void)
{
    uint32_t done = 0;

    if (self.busy == 0)
        write_all(self.control.fd, &done, sizeof done, driver);
}

static void part_done(void *context, bool is_done)
{
    (void)context;
    if (!is_done)
        fail("a transfer or computing was broken off");
    self.busy--;
    report_if_done();
}

static void compute_as_said(const void *flops)
{
    compute(*(const uint64_t *)flops);
}

static void take_order(struct source *source)
{
    struct order order;
    struct transfer *transfers;

    if (recv(source->fd, &order, 1, MSG_PEEK) <= 0) {
        self.is_dismissed = true;
        return;
    }
    read_all(source->fd, &order, sizeof order, driver);
    transfers = allocate(order.transfers, sizeof *transfers);
    read_all(source->fd, transfers, order.transfers * sizeof *transfers, driver);
    self.busy = order.transfers;
    for (uint32_t i = 0; i < order.transfers; i++)
        exchange_start(&transfers[i], &self.peers[transfers[i].peer], NULL, part_done, NULL);
    free(transfers);
    if (order.has_network && order.flops > 0) {
        self.busy++;
        run_beside(compute_as_said, &order.flops, part_done, NULL);
    } else {
        compute(order.flops);
    }
    report_if_done();
}

/* `family` is that of the addresses at which other ranks reach this one: they are told those that the driver has seen. */
int rank_run(int control, int family, int rank)
{
    struct hello hello = {.rank = (uint32_t)rank};
    uint32_t count;

    self.control = (struct source){control, take_order};
    hello.port = exchange_listen(family, 0);
    write_all(control, &hello, sizeof hello, driver);
    read_all(control, &count, sizeof count, driver);
    self.peers = allocate(count, sizeof *self.peers);
    read_all(control, self.peers, count * sizeof *self.peers, driver);
    exchange_expect(count);
    exchange_watch(&self.control);
    while (!self.is_dismissed)
        exchange_turn();
    return 0;
}
