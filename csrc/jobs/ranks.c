/* The ranks, seen from the driver: started by the script's launch command, told where the others are, given their orders. */
#include "job.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct crew {
    const struct script *script;
    int *controls;           /* by rank */
    struct endpoint *peers;  /* ranks, then storages */
    pid_t launcher;          /* srun, or the only rank itself */
};

static const char rank_name[] = "a rank";

/* srun and the like: PROGRAM rank HOST PORT behind the words of the script. */
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

/* Listen for the ranks at the address that this host's name has. */
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

/* A connection, unless the launcher ends before one comes. */
static int await_rank(struct crew *crew, int listener, int launcher_end, struct endpoint *from)
{
    struct pollfd either[] = {{listener, POLLIN, 0}, {launcher_end, POLLIN, 0}};
    int status = 0;
    int fd;

    while (poll(either, 2, -1) < 0 && errno == EINTR)
        ;
    if (either[0].revents == 0) {
        waitpid(crew->launcher, &status, 0);
        fail("%s ended with status %d before all %d ranks had started", crew->script->launch[0],
             WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), crew->script->ranks);
    }
    from->length = sizeof from->address;
    fd = accept4(listener, (struct sockaddr *)&from->address, &from->length, SOCK_CLOEXEC);
    if (fd < 0)
        fail("a rank could not be accepted: %m");
    return fd;
}

static void greet(struct crew *crew, int fd, struct endpoint from)
{
    struct hello hello;

    read_all(fd, &hello, sizeof hello, rank_name);
    if (hello.rank >= (uint32_t)crew->script->ranks || crew->controls[hello.rank] != 0)
        fail("there is no rank %u, or it is there already: the script expects %d", hello.rank, crew->script->ranks);
    endpoint_set_port(&from, (uint16_t)hello.port);
    crew->controls[hello.rank] = fd;
    crew->peers[hello.rank] = from;
}

static void gather_launched(struct crew *crew)
{
    char host[64], port[16], program[256];
    struct endpoint here, from;
    int listener = listen_for_ranks(&here, host, port);
    int launcher_end;

    own_program(program, sizeof program);
    fflush(stdout);
    crew->launcher = fork();
    if (crew->launcher == 0)
        launch(crew->script->launch, program, host, port);
    launcher_end = (int)syscall(SYS_pidfd_open, crew->launcher, 0);
    if (crew->launcher < 0 || launcher_end < 0)
        fail("cannot start %s: %m", crew->script->launch[0]);
    for (int i = 0; i < crew->script->ranks; i++) {
        int fd = await_rank(crew, listener, launcher_end, &from);

        greet(crew, fd, endpoint_is_loopback(&from) ? here : from);
    }
    close(launcher_end);
    close(listener);
}

/* A rank of its own needs no launcher: a child. */
static void gather_single(struct crew *crew)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail("socketpair: %m");
    fflush(stdout);
    crew->launcher = fork();
    if (crew->launcher < 0)
        fail("fork: %m");
    if (crew->launcher == 0) {
        close(ends[0]);
        _exit(rank_run(ends[1], 0));
    }
    close(ends[1]);
    greet(crew, ends[0], endpoint_of("127.0.0.1", "0"));
}

struct crew *crew_gather(const struct script *script)
{
    struct crew *crew = allocate(1, sizeof *crew);
    uint32_t count = (uint32_t)(script->ranks + script->storage_count);

    crew->script = script;
    crew->controls = allocate((size_t)script->ranks, sizeof *crew->controls);
    crew->peers = allocate(count, sizeof *crew->peers);
    if (script->launch == NULL)
        gather_single(crew);
    else
        gather_launched(crew);
    for (int i = 0; i < script->storage_count; i++)
        crew->peers[script->ranks + i] = script->storages[i];
    for (int rank = 0; rank < script->ranks; rank++) {
        write_all(crew->controls[rank], &count, sizeof count, rank_name);
        write_all(crew->controls[rank], crew->peers, count * sizeof *crew->peers, rank_name);
    }
    return crew;
}

static bool is_meant(int64_t wanted, int rank)
{
    return wanted == EVERY || wanted == rank;
}

/* What a line asks of one rank: flops, or transfers, of which there is room for as many as there are peers. */
static uint32_t add_part(const struct crew *crew, const struct line *line, int rank, struct order *order,
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
                                         (uint32_t)(crew->script->ranks + line->to), line->amount};
        return 1;
    }
    for (int to = 0; to < crew->script->ranks; to++)
        if (line->to == to || (line->to == EVERY && to != rank))
            transfers[count++] = (struct transfer){TRANSFER_WRITE, (uint32_t)to, line->amount};
    return count;
}

static void give_order(const struct crew *crew, const struct line *task, const struct line *end, int rank, bool has_network)
{
    struct order order = {.has_network = has_network};
    size_t most = (size_t)(end - task) * (size_t)crew->script->ranks;
    struct transfer *transfers = allocate(most, sizeof *transfers);

    for (const struct line *line = task + 1; line < end; line++)
        order.transfers += add_part(crew, line, rank, &order, transfers + order.transfers);
    write_all(crew->controls[rank], &order, sizeof order, rank_name);
    write_all(crew->controls[rank], transfers, order.transfers * sizeof *transfers, rank_name);
    free(transfers);
}

/* A parallel task: all ranks begin together, and it is done when the last of them is. */
void crew_task(struct crew *crew, const struct line *task, const struct line *end)
{
    bool has_network = false;
    uint32_t done;

    for (const struct line *line = task + 1; line < end; line++)
        has_network |= line->verb != CPU && line->amount > 0;
    for (int rank = 0; rank < crew->script->ranks; rank++)
        give_order(crew, task, end, rank, has_network);
    for (int rank = 0; rank < crew->script->ranks; rank++)
        read_all(crew->controls[rank], &done, sizeof done, rank_name);
}

static void staged(void *context, bool is_done)
{
    if (!is_done)
        fail("a storage has broken off");
    *(bool *)context = true;
}

/* Between two storages; this host only asks for it. */
void crew_stage(const struct endpoint *from, const struct endpoint *to, uint64_t bytes)
{
    struct transfer transfer = {TRANSFER_FORWARD, 0, bytes};
    bool is_over = false;

    exchange_start(&transfer, from, to, staged, &is_over);
    while (!is_over)
        exchange_turn();
}

/* Let the ranks go; how their launcher ended, as an exit code. */
int crew_dismiss(struct crew *crew)
{
    int status = 0;

    for (int rank = 0; rank < crew->script->ranks; rank++)
        close(crew->controls[rank]);
    while (waitpid(crew->launcher, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
