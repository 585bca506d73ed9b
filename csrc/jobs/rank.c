/* One rank: carries out the driver's orders, and serves the transfers of other ranks meanwhile. */
#include "job.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char driver[] = "the driver";

static struct rank {
    struct source control; /* first: what is ready when an order comes */
    struct endpoint *peers;
    uint32_t busy; /* transfers and computing of the order that are not done */
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
        fail("a transfer was broken off");
    self.busy--;
    report_if_done();
}

struct computing {
    struct source end; /* the pipe whose other end the child holds */
    pid_t child;
};

static void computing_done(struct source *source)
{
    struct computing *computing = (struct computing *)source;
    int status;

    close(source->fd);
    if (waitpid(computing->child, &status, 0) != computing->child || status != 0)
        fail("computing has failed");
    free(computing);
    part_done(NULL, true);
}

/* Compute in a child, while this process attends to the network. */
static void compute_beside(uint64_t flops)
{
    struct computing *computing = allocate(1, sizeof *computing);
    int ends[2];

    if (pipe(ends) != 0 || (computing->child = fork()) < 0)
        fail("cannot compute: %m");
    if (computing->child == 0) { /* keep the end of the pipe only: other ranks wait for connections to be closed */
        dup2(ends[1], STDERR_FILENO + 1);
        syscall(SYS_close_range, STDERR_FILENO + 2, ~0U, 0);
        compute(flops);
        _exit(0);
    }
    close(ends[1]);
    computing->end = (struct source){ends[0], computing_done};
    exchange_watch(&computing->end);
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
        compute_beside(order.flops);
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
