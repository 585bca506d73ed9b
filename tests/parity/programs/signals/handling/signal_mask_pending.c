// Blocked signals pend, standard ones once, real-time ones each in order; unblocking delivers them.
#include "check.h"

static volatile sig_atomic_t standard, realtime;

static void handler(int number, siginfo_t *info, void *context)
{
    CHECK(context != NULL);
    if (number == SIGUSR1)
        standard++;
    else
        CHECK(info->si_value.sival_int == realtime++);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigset_t set, pending;

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sigaction(SIGRTMIN + 3, &action, NULL) == 0);
    sigfillset(&set);
    CHECK(sigprocmask(SIG_SETMASK, &set, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(raise(SIGUSR1) == 0);
        CHECK(sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = i}) == 0);
    }
    sleep_ms(5);
    CHECK(sigpending(&pending) == 0);
    CHECK(sigismember(&pending, SIGUSR1) == 1 && sigismember(&pending, SIGRTMIN + 3) == 1);
    CHECK(standard == 0 && realtime == 0);
    sigemptyset(&set);
    CHECK(sigprocmask(SIG_SETMASK, &set, NULL) == 0);
    CHECK(standard == 1 && realtime == 3);
    return succeed();
}
