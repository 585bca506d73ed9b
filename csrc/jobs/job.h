/* The job program: does on the hosts of a job what the workload says. It is an ordinary program, emulated like any
 * other.
 *
 *     simunix-job SCRIPT            the driver: runs a script line by line (language: script.c); the script's #! names it
 *     simunix-job rank HOST PORT    one of its ranks, started by the script's `launch` command (srun, mpiexec ...)
 *     simunix-job storage PORT      the server of a storage host
 *     simunix-job machines WORD...  asks the machine room: hosts go off and on, power states change, meters are read
 *
 * The driver listens; its ranks connect to it and learn from it where the other ranks and the storages are. For each
 * parallel task the driver then gives every rank an order, and every rank reports when its own part is done. Bytes go
 * over TCP connections between ranks and storages.
 *
 *     main.c     which of the three programs to be           rank.c       a rank: carries out the driver's orders
 *     driver.c   the script, line by line                    transfer.c   connections between ranks and storages
 *     script.c   reads a script                              endpoint.c   addresses; whole messages
 *     ranks.c    all ranks, seen from the driver             compute.c    computing and waiting
 *     file.c     storages that are paths                    beside.c     work in a child
 *     start.c    the entry point, for any C library         machines.c   what the machine room is asked
 *     exchange.c the loop that waits for descriptors        fail.c       errors that end the program
 */
#ifndef SIMUNIX_JOB_H
#define SIMUNIX_JOB_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

#define SECOND_NS 1000000000LL
#define EVERY (-1) /* a number that means all ranks (`*` in a script) */

/* The address at which a rank or a storage listens. A storage may be a path instead (AF_UNIX). */
struct endpoint {
    struct sockaddr_storage address;
    socklen_t length;
};

/* The kind of transfer over a connection between two endpoints, as seen from the endpoint that opens the connection. */
enum transfer_kind { TRANSFER_WRITE = 1, TRANSFER_READ = 2, TRANSFER_FORWARD = 3 };

/* A transfer in the order of a rank. `peer` is an index into the table of endpoints: ranks first, then storages. */
struct transfer {
    uint32_t kind;
    uint32_t peer;
    uint64_t bytes;
};

/* The order that the driver sends to a rank; `transfers` structs transfer follow. In a task without transfers, a rank
 * computes without making a child process. */
struct order {
    uint64_t flops;
    uint32_t transfers;
    uint32_t has_network;
};

/* The message by which a rank introduces itself to the driver, once. */
struct hello {
    uint32_t rank;
    uint32_t port;
};

/* script.c */
enum verb { DELAY, SUSPENDABLE, COMMAND, REPEAT, END, TASK, STAGE, EXIT, CPU, SEND, READ, WRITE };

struct line {
    enum verb verb;
    int number;       /* the number of the line in the script, from 1 */
    int end;          /* for REPEAT and TASK: index of the matching END; for the END of a REPEAT: index of the REPEAT */
    int64_t from, to; /* numbers of ranks or storages */
    uint64_t amount;  /* ns, flops, bytes, repetitions or exit code */
    uint64_t left;    /* for REPEAT: the number of rounds that are left */
    char *text;       /* for COMMAND: the text of the command; for other steps: the text for the log */
};

struct script {
    struct line *lines;
    int count;
    int rank_count;
    char **launch; /* the command that starts the ranks; NULL: this process is the only rank */
    struct endpoint *storages;
    int storage_count;
};

void script_read(struct script *script, const char *path);

/* driver.c */
int driver_run(struct script *script);

/* ranks.c */
struct ranks;
struct ranks *ranks_gather(const struct script *script);
void ranks_run_task(struct ranks *ranks, const struct line *task, const struct line *end);
int ranks_dismiss(struct ranks *ranks);
void ranks_stage(const struct endpoint *from, const struct endpoint *to, uint64_t bytes);

/* rank.c */
int rank_run(int control, int family, int rank);

/* exchange.c */
struct source { /* a descriptor in the epoll; this struct is the first member of the struct of its owner */
    int fd;
    void (*ready)(struct source *source);
};
void exchange_watch(struct source *source); /* watch the descriptor for input */
void exchange_control(struct source *source, uint32_t events, int operation);
void exchange_forget(struct source *source);
void exchange_turn(void);

/* transfer.c */
typedef void (*finished)(void *context, bool is_done);
uint16_t exchange_listen(int family, uint16_t port);
void exchange_expect(uint32_t connections); /* announce that so many connections at a time share the memory for buffers */
void exchange_start(const struct transfer *transfer, const struct endpoint *peer, const struct endpoint *onward, finished done,
                    void *context);

/* beside.c */
void run_beside(void (*work)(const void *what), const void *what, finished done, void *context);

/* file.c */
bool endpoint_is_path(const struct endpoint *endpoint);
struct endpoint endpoint_of_path(const char *path);
void file_start(bool reads, uint64_t bytes, const struct endpoint *storage, finished done, void *context);

/* compute.c */
void compute(uint64_t flops);
void pause_for(int64_t duration_ns);
void pause_suspendable(int64_t duration_ns);
struct timespec now(void);

/* machines.c */
int run_machines(char **words);

/* endpoint.c */
void read_all(int fd, void *data, size_t size, const char *who);
void write_all(int fd, const void *data, size_t size, const char *who);
struct endpoint endpoint_of(const char *host, const char *port);
void endpoint_set_port(struct endpoint *endpoint, uint16_t port);
void endpoint_numbers(const struct endpoint *endpoint, char *host, char *port);
bool endpoint_is_loopback(const struct endpoint *endpoint);

/* fail.c */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *allocate(size_t count, size_t size);
void *grow(void *old, size_t count, size_t size);

#endif
