// Timers of a CPU clock do not run while the process sleeps; ITIMER_PROF and ITIMER_VIRTUAL neither. They go off for one that computes.
// native: slow
// warns: a timer of CPU time is
// musl: no (musl does not tell that a timer is gone)
#include "check.h"

#include <sys/time.h>

static volatile sig_atomic_t rings;

static void ring(int signal)
{
    (void)signal;
    rings++;
}

static void compute_until_ring(void)
{
    volatile unsigned long sum = 0;

    while (rings == 0)
        sum = sum + 1;
}

static timer_t set_timer(clockid_t clock, int signal)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal};
    struct itimerspec once = {.it_value = timespec_from(30 * MS)}, left;
    timer_t timer;

    CHECK(timer_create(clock, &event, &timer) == 0 && timer_settime(timer, 0, &once, NULL) == 0);
    CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_nsec > 0);
    return timer;
}

int main(void)
{
    const clockid_t clocks[] = {CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
    const int kinds[] = {ITIMER_VIRTUAL, ITIMER_PROF};
    struct itimerval once = {.it_value = {0, 30000}};

    CHECK(signal(SIGUSR1, ring) != SIG_ERR && signal(SIGVTALRM, ring) != SIG_ERR && signal(SIGPROF, ring) != SIG_ERR);
    for (int i = 0; i < 2; i++) {
        timer_t timer = set_timer(clocks[i], SIGUSR1);

        sleep_ms(200);
        CHECK(rings == 0);
        compute_until_ring();
        CHECK(rings == 1 && timer_getoverrun(timer) == 0 && timer_delete(timer) == 0);
        CHECK_ERRNO(timer_delete(timer), EINVAL);
        rings = 0;
        CHECK(setitimer(kinds[i], &once, NULL) == 0);
        sleep_ms(200);
        CHECK(rings == 0);
        compute_until_ring();
        CHECK(rings == 1);
        rings = 0;
    }
    return succeed();
}
