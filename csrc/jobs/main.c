/* Starts the driver, a rank, a storage or a request to the machine room, as the arguments say. */
#include "job.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const rank_variables[] = {"SLURM_PROCID", "PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK"};

/* Raise the limit of descriptors, since in a task of n ranks each rank has up to 2n connections. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int own_rank(void)
{
    const char *value;

    for (size_t i = 0; i < sizeof rank_variables / sizeof *rank_variables; i++)
        if ((value = getenv(rank_variables[i])) != NULL)
            return (int)strtol(value, NULL, 10);
    fail("rank: its number is in none of SLURM_PROCID, PMIX_RANK, PMI_RANK and OMPI_COMM_WORLD_RANK; start ranks by srun or "
         "mpiexec");
}

static int run_rank(char **words)
{
    struct endpoint driver = endpoint_of(words[0], words[1]);
    int control = socket(driver.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (control < 0 || connect(control, (struct sockaddr *)&driver.address, driver.length) != 0)
        fail("rank: cannot connect to its driver at %s port %s: %m", words[0], words[1]);
    return rank_run(control, driver.address.ss_family, own_rank());
}

static _Noreturn void run_storage(char **words)
{
    exchange_listen(AF_INET, (uint16_t)strtol(words[0], NULL, 10));
    for (;;)
        exchange_turn();
}

static int run_script(char **words)
{
    struct script script = {0};

    script_read(&script, words[0]);
    return driver_run(&script);
}

int main(int count, char **words)
{
    signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();
    if (count == 4 && strcmp(words[1], "rank") == 0)
        return run_rank(words + 2);
    if (count == 3 && strcmp(words[1], "storage") == 0)
        run_storage(words + 2);
    if (count >= 3 && strcmp(words[1], "machines") == 0)
        return run_machines(words + 2);
    if (count == 2)
        return run_script(words + 1);
    fail("expected SCRIPT, or: rank HOST PORT, or: storage PORT, or: machines WORD...");
}
