// Computing asked for with prctl(PR_SIMUNIX_COMPUTE) takes flops / speed, ends at a signal handler, and waits while it is stopped.
// native: no (only an emulated host computes for its programs)
// virtual: 14
#include "check.h"
#include "prctl_options.h"

#include <sys/prctl.h>

#define GIGA 1000000000ULL

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static volatile sig_atomic_t signals;

static void count(int signal)
{
    (void)signal;
    signals++;
}

static pid_t child_computes(uint64_t flops)
{
    pid_t child = fork();

    if (child == 0)
        _exit(prctl(PR_SIMUNIX_COMPUTE, &flops) != 0 || flops != 0);
    return child;
}

int main(void)
{
    uint64_t flops = 2 * GIGA;
    double begin = now();
    pid_t child;
    int status;

    CHECK(prctl(PR_SIMUNIX_COMPUTE, &flops) == 0 && flops == 0);
    CHECK(now() - begin > 1.999 && now() - begin < 2.001);

    /* A handler ends it, and what is left can be computed afterwards. */
    struct sigaction action = {.sa_handler = count};
    sigaction(SIGALRM, &action, NULL);
    alarm(1);
    flops = 3 * GIGA;
    CHECK(prctl(PR_SIMUNIX_COMPUTE, &flops) == -1 && errno == EINTR && signals == 1);
    CHECK(flops > 1999 * (GIGA / 1000) && flops < 2001 * (GIGA / 1000));
    CHECK(prctl(PR_SIMUNIX_COMPUTE, &flops) == 0);

    /* An ignored signal does not. */
    signal(SIGALRM, SIG_IGN);
    alarm(1);
    begin = now();
    flops = 2 * GIGA;
    CHECK(prctl(PR_SIMUNIX_COMPUTE, &flops) == 0);
    CHECK(now() - begin > 1.999 && now() - begin < 2.001);

    /* While it is stopped it computes nothing. */
    begin = now();
    child = child_computes(2 * GIGA);
    sleep(1);
    CHECK(kill(child, SIGSTOP) == 0);
    sleep(5);
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(now() - begin > 6.999 && now() - begin < 7.001);

    CHECK_ERRNO(prctl(PR_SIMUNIX_COMPUTE, NULL), EFAULT);
    flops = UINT64_MAX;
    CHECK_ERRNO(prctl(PR_SIMUNIX_COMPUTE, &flops), EINVAL);
    return succeed();
}
