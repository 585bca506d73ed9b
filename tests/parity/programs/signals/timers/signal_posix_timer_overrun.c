// Expiries that nobody could take are counted as overruns of the one signal.
#include "check.h"

int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec every = {.it_value = {.tv_nsec = 10 * MS}, .it_interval = {.tv_nsec = 10 * MS}};
    siginfo_t info;
    timer_t timer;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &every, NULL) == 0);
    sleep_ms(55);
    CHECK(sigwaitinfo(&set, &info) == SIGUSR1);
    CHECK(timer_getoverrun(timer) >= 4 && timer_getoverrun(timer) <= 4 + tolerance_ns() / (10 * MS));
    return succeed();
}
