// timer_create: a signal with a value, an interval, what is left, deletion, an absolute deadline.
#include "check.h"

static volatile sig_atomic_t count, value;

static void handler(int number, siginfo_t *info, void *context)
{
    CHECK(number == SIGUSR1 && info->si_code == SI_TIMER && context != NULL);
    value = info->si_value.sival_int;
    count++;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 9};
    struct itimerspec every = {.it_value = {.tv_nsec = 20 * MS}, .it_interval = {.tv_nsec = 10 * MS}};
    struct itimerspec left;
    int64_t start_ns = now_ns();
    timer_t timer;

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &every, NULL) == 0);
    CHECK(timer_gettime(timer, &left) == 0);
    CHECK(left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 20 * MS && left.it_interval.tv_nsec == 10 * MS);
    while (count < 3)
        CHECK_ERRNO(pause(), EINTR);
    CHECK_ELAPSED(start_ns, 40);
    CHECK(value == 9 && timer_getoverrun(timer) >= 0);
    every = (struct itimerspec){.it_value = timespec_from(start_ns + 70 * MS)};
    CHECK(timer_settime(timer, TIMER_ABSTIME, &every, NULL) == 0);
    CHECK_ERRNO(pause(), EINTR);
    CHECK_ELAPSED(start_ns, 70);
    CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    CHECK(timer_delete(timer) == 0);
    return succeed();
}
