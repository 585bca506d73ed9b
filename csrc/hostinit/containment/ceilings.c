/* Hard limits of contained hosts. Only a process with privileges over this computer may raise one, so the fork server does,
 * before the birth of such a host: what is set when a program starts (spawn.c) can then be set as low as it is to be.
 *
 * Real-time priorities stay impossible: a program that computes with one could stop this computer. */
#define _GNU_SOURCE
#include "../hostinit.h"

#include <sys/resource.h>

#define MANY_FILES (1 << 20) /* the kernel's default ceiling (fs.nr_open) */

static struct rlimit callers[RLIM_NLIMITS];
static bool are_raised;

static bool is_about_priority(int which)
{
    return which == RLIMIT_RTPRIO || which == RLIMIT_NICE || which == RLIMIT_RTTIME;
}

/* Raise the hard limits, in the fork server. A limit that this user may not raise stays as it is. */
void ceilings_raise(void)
{
    for (int which = 0; which < RLIM_NLIMITS; which++) {
        struct rlimit limit;

        if (getrlimit(which, &callers[which]) != 0)
            continue;
        limit = callers[which];
        limit.rlim_max = which == RLIMIT_NOFILE ? MANY_FILES : RLIM_INFINITY;
        if (!is_about_priority(which) && limit.rlim_cur <= limit.rlim_max && callers[which].rlim_max < limit.rlim_max)
            setrlimit(which, &limit);
    }
    are_raised = true;
}

/* Restore the limits of the process that has started the run, in the fork server, and for a command that keeps them. */
void ceilings_restore(void)
{
    for (int which = 0; are_raised && which < RLIM_NLIMITS; which++)
        setrlimit(which, &callers[which]);
}

/* Forbid real-time priorities in a contained host, whose root may make its first process do anything. */
void ceilings_without_priority(void)
{
    const struct rlimit none = {0, 0};

    setrlimit(RLIMIT_RTPRIO, &none);
    setrlimit(RLIMIT_NICE, &none);
}
