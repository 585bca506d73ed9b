// A signal that a program sends itself is handled before the call returns: raise, kill, tgkill, sigqueue.
#include "check.h"

#include <pthread.h>

static volatile sig_atomic_t count;
static volatile sig_atomic_t value;

static void handler(int number, siginfo_t *info, void *context)
{
    CHECK(number == SIGUSR1 && info->si_pid == getpid() && context != NULL);
    value = info->si_value.sival_int;
    count++;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0 && count == 1);
    CHECK(kill(getpid(), SIGUSR1) == 0 && count == 2);
    CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0 && count == 3);
    CHECK(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 77}) == 0 && count == 4 && value == 77);
    CHECK(kill(getpid(), 0) == 0);
    CHECK_ERRNO(kill(getpid(), 99), EINVAL);
    return succeed();
}
