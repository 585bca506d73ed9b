// Threads that compute on one core share it by their nice values; each uses only the processors that it may use.
// native: no (only an emulated host computes for its programs)
// virtual: 4
#include "check.h"
#include "prctl_options.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define MEGA 1000000ULL

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A child on processor 0 that computes at a nice value; it says by its end whether that took the expected time. */
static pid_t child_computes(uint64_t flops, int nice, double begin, double expected)
{
    pid_t child = fork();
    cpu_set_t first;

    if (child != 0)
        return child;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    CHECK(sched_setaffinity(0, sizeof first, &first) == 0);
    CHECK(setpriority(PRIO_PROCESS, 0, nice) == 0);
    CHECK(prctl(PR_SIMUNIX_COMPUTE, &flops) == 0);
    _exit(now() - begin > expected + 0.001 || now() - begin < expected - 0.001);
}

static void both_succeed(const pid_t *children)
{
    int status;

    for (int index = 0; index < 2; index++)
        CHECK(waitpid(children[index], &status, 0) == children[index] && status == 0);
}

int main(void)
{
    double begin = now();
    pid_t children[2];

    /* Weights 1024 and 335: work in this proportion ends at one moment. */
    children[0] = child_computes(1024 * MEGA, 0, begin, 1.359);
    children[1] = child_computes(335 * MEGA, 5, begin, 1.359);
    both_succeed(children);

    /* Equal work: nice gets what is left over, then all. */
    begin = now();
    children[0] = child_computes(1024 * MEGA, 0, begin, 1.024 * 1359 / 1024);
    children[1] = child_computes(1024 * MEGA, 5, begin, 2.048);
    both_succeed(children);
    return succeed();
}
