/* The ranks, seen from the driver: it starts them by the script's launch command, tells them where the others are, and gives
 * orders. */
#include "job.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct ranks {
    const struct script *script;
    int *controls;          /* by rank */
    struct endpoint *peers; /* ranks, then storages */
    pid_t launcher;         /* the process of the launcher (srun and the like), or of the only rank */
};

static const char rank_name[] = "a rank";

/* Run the launch command of the script (srun and the like), with PROGRAM rank HOST PORT appended. */
static _Noreturn void launch(char **words, const char *program, const char *host, const char *port)
{
    int count = 0;
    char **all;

    while (words[count] != NULL)
        count++;
    all = allocate((size_t)count + 5, sizeof *all);
    memcpy(all, words, (size_t)count * sizeof *all);
    all[count] = strdup(program);
    all[count + 1] = strdup("rank");
    all[count + 2] = strdup(host);
    all[count + 3] = strdup(port);
    execvp(all[0], all);
    fail("%s: %m", all[0]);
}

static void own_program(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);

    if (length < 0)
        fail("/proc/self/exe: %m");
    path[length] = '\0';
}

/* Listen for the ranks at the address of this host's name. */
static int listen_for_ranks(struct endpoint *here, char *host, char *port)
{
    char name[256];
    int fd;

    gethostname(name, sizeof name);
    *here = endpoint_of(name, "0");
    fd = socket(here->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&here->address, here->length) != 0 || listen(fd, 4096) != 0)
        fail("cannot listen at %s: %m", name);
    getsockname(fd, (struct sockaddr *)&here->address, &here->length);
    endpoint_numbers(here, host, port);
    return fd;
}

/* Return the connection of the next rank. Ends the program if the launcher ends before a rank connects. */
static int await_rank(struct ranks *ranks, int listener, int launcher_end, struct endpoint *from)
{
    struct pollfd either[] = {{listener, POLLIN, 0}, {launcher_end, POLLIN, 0}};
    int status = 0;
    int fd;

    while (poll(either, 2, -1) < 0 && errno == EINTR)
        ;
    if (either[0].revents == 0) {
        waitpid(ranks->launcher, &status, 0);
        fail("%s ended with status %d before all %d ranks had started", ranks->script->launch[0],
             WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), ranks->script->rank_count);
    }
    from->length = sizeof from->address;
    fd = accept4(listener, (struct sockaddr *)&from->address, &from->length, SOCK_CLOEXEC);
    if (fd < 0)
        fail("a rank could not be accepted: %m");
    return fd;
}

static void greet(struct ranks *ranks, int fd, struct endpoint from)
{
    struct hello hello;

    read_all(fd, &hello, sizeof hello, rank_name);
    if (hello.rank >= (uint32_t)ranks->script->rank_count || ranks->controls[hello.rank] != 0)
        fail("rank %u is not below %d, the number of ranks of the script, or has connected twice", hello.rank,
             ranks->script->rank_count);
    endpoint_set_port(&from, (uint16_t)hello.port);
    ranks->controls[hello.rank] = fd;
    ranks->peers[hello.rank] = from;
}

static void gather_launched(struct ranks *ranks)
{
    char host[64], port[16], program[256];
    struct endpoint here, from;
    int listener = listen_for_ranks(&here, host, port);
    int launcher_end;

    own_program(program, sizeof program);
    fflush(stdout);
    ranks->launcher = fork();
    if (ranks->launcher == 0)
        launch(ranks->script->launch, program, host, port);
    launcher_end = (int)syscall(SYS_pidfd_open, ranks->launcher, 0);
    if (ranks->launcher < 0 || launcher_end < 0)
        fail("cannot start %s: %m", ranks->script->launch[0]);
    for (int i = 0; i < ranks->script->rank_count; i++) {
        int fd = await_rank(ranks, listener, launcher_end, &from);

        greet(ranks, fd, endpoint_is_loopback(&from) ? here : from);
    }
    close(launcher_end);
    close(listener);
}

/* A single rank without a launcher is a child. */
static void gather_single(struct ranks *ranks)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail("socketpair: %m");
    fflush(stdout);
    ranks->launcher = fork();
    if (ranks->launcher < 0)
        fail("fork: %m");
    if (ranks->launcher == 0) {
        close(ends[0]);
        _exit(rank_run(ends[1], AF_INET, 0));
    }
    close(ends[1]);
    greet(ranks, ends[0], endpoint_of("127.0.0.1", "0"));
}

struct ranks *ranks_gather(const struct script *script)
{
    struct ranks *ranks = allocate(1, sizeof *ranks);
    uint32_t count = (uint32_t)(script->rank_count + script->storage_count);

    ranks->script = script;
    ranks->controls = allocate((size_t)script->rank_count, sizeof *ranks->controls);
    ranks->peers = allocate(count, sizeof *ranks->peers);
    if (script->launch == NULL)
        gather_single(ranks);
    else
        gather_launched(ranks);
    for (int i = 0; i < script->storage_count; i++)
        ranks->peers[script->rank_count + i] = script->storages[i];
    for (int rank = 0; rank < script->rank_count; rank++) {
        write_all(ranks->controls[rank], &count, sizeof count, rank_name);
        write_all(ranks->controls[rank], ranks->peers, count * sizeof *ranks->peers, rank_name);
    }
    return ranks;
}

static bool is_meant(int64_t wanted, int rank)
{
    return wanted == EVERY || wanted == rank;
}

/* Add the work of a line for one rank: flops, or transfers. `transfers` has room for one transfer to each peer; returns
 * how many transfers there are. */
static uint32_t add_part(const struct ranks *ranks, const struct line *line, int rank, struct order *order,
                         struct transfer *transfers)
{
    uint32_t count = 0;

    if (line->amount == 0 || !is_meant(line->from, rank))
        return 0;
    if (line->verb == CPU) {
        order->flops += line->amount;
        return 0;
    }
    if (line->verb != SEND) {
        transfers[0] = (struct transfer){line->verb == READ ? TRANSFER_READ : TRANSFER_WRITE,
                                         (uint32_t)(ranks->script->rank_count + line->to), line->amount};
        return 1;
    }
    for (int to = 0; to < ranks->script->rank_count; to++)
        if (line->to == to || (line->to == EVERY && to != rank))
            transfers[count++] = (struct transfer){TRANSFER_WRITE, (uint32_t)to, line->amount};
    return count;
}

static void give_order(const struct ranks *ranks, const struct line *task, const struct line *end, int rank, bool has_network)
{
    struct order order = {.has_network = has_network};
    size_t most = (size_t)(end - task) * (size_t)ranks->script->rank_count;
    struct transfer *transfers = allocate(most, sizeof *transfers);

    for (const struct line *line = task + 1; line < end; line++)
        order.transfers += add_part(ranks, line, rank, &order, transfers + order.transfers);
    write_all(ranks->controls[rank], &order, sizeof order, rank_name);
    write_all(ranks->controls[rank], transfers, order.transfers * sizeof *transfers, rank_name);
    free(transfers);
}

/* A parallel task: all ranks begin together; the task is done when the last rank is. */
void ranks_run_task(struct ranks *ranks, const struct line *task, const struct line *end)
{
    bool has_network = false;
    uint32_t done;

    for (const struct line *line = task + 1; line < end; line++)
        has_network |= line->verb != CPU && line->amount > 0;
    for (int rank = 0; rank < ranks->script->rank_count; rank++)
        give_order(ranks, task, end, rank, has_network);
    for (int rank = 0; rank < ranks->script->rank_count; rank++)
        read_all(ranks->controls[rank], &done, sizeof done, rank_name);
}

static void staged(void *context, bool is_done)
{
    if (!is_done)
        fail("a storage has broken a transfer off");
    ++*(int *)context;
}

/* Have one storage send bytes to another one; they do not pass this host. If both storages are paths, this host reads
 * and writes at the same time. */
void ranks_stage(const struct endpoint *from, const struct endpoint *to, uint64_t bytes)
{
    struct transfer transfer = {TRANSFER_FORWARD, 0, bytes};
    bool between_paths = endpoint_is_path(from) && endpoint_is_path(to);
    int over = 0;

    if (between_paths) {
        file_start(true, bytes, from, staged, &over);
        file_start(false, bytes, to, staged, &over);
    } else {
        exchange_start(&transfer, from, to, staged, &over);
    }
    while (over < 1 + between_paths)
        exchange_turn();
}

/* Let the ranks end; returns the exit code of their launcher. */
int ranks_dismiss(struct ranks *ranks)
{
    int status = 0;

    for (int rank = 0; rank < ranks->script->rank_count; rank++)
        close(ranks->controls[rank]);
    while (waitpid(ranks->launcher, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
