/* The steps that take time without a network: computing, sleeping, and sleeping in which the time of a suspension does
 * not count. */
#include "job.h"
#include "shared/prctl_options.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Compute on the emulated host's cores, at its speed, which all threads that compute there share. */
void compute(uint64_t flops)
{
    while (flops > 0 && prctl(PR_SIMUNIX_COMPUTE, &flops) != 0)
        if (errno != EINTR)
            fail("computing needs an emulated host: %m");
}

struct timespec now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return time;
}

/* Sleep as sleep(1) does: the time during which the process is stopped counts. */
void pause_for(int64_t duration_ns)
{
    struct timespec left = {duration_ns / SECOND_NS, duration_ns % SECOND_NS};

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

static int64_t nanoseconds(struct timespec time)
{
    return time.tv_sec * SECOND_NS + time.tv_nsec;
}

/* Stop, as SIGTSTP asks for. Returns for how long, in ns. The process stops itself by SIGSTOP, since an orphaned
 * process group ignores SIGTSTP. */
static int64_t stop_and_log(void)
{
    struct timespec begin = now();
    struct timespec end;

    kill(getpid(), SIGSTOP);
    end = now();
    printf("%lld.%09ld suspended for %.9f s\n", (long long)begin.tv_sec, begin.tv_nsec,
           (double)(nanoseconds(end) - nanoseconds(begin)) / SECOND_NS);
    fflush(stdout);
    return nanoseconds(end) - nanoseconds(begin);
}

/* Sleep; time during which the process is stopped does not count. An RJMS suspends a job by SIGTSTP, which can be waited for,
 * and a while later by SIGSTOP, which cannot: a suspension by SIGSTOP alone counts as sleep. */
void pause_suspendable(int64_t duration_ns)
{
    int64_t end_ns = nanoseconds(now()) + duration_ns;
    sigset_t stops;

    sigemptyset(&stops);
    sigaddset(&stops, SIGTSTP);
    sigprocmask(SIG_BLOCK, &stops, NULL);
    for (;;) {
        int64_t left_ns = end_ns - nanoseconds(now());
        struct timespec left = {left_ns / SECOND_NS, left_ns % SECOND_NS};
        int number = left_ns > 0 ? sigtimedwait(&stops, NULL, &left) : 0;

        if (number == 0 || (number < 0 && errno == EAGAIN))
            break;
        if (number == SIGTSTP)
            end_ns += stop_and_log();
    }
    sigprocmask(SIG_UNBLOCK, &stops, NULL);
}
