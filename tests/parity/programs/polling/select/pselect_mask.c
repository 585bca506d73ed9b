// pselect lets in a signal that is blocked outside of it, and puts the mask back.
#include "check.h"

#include <sys/select.h>

static volatile sig_atomic_t caught;

static void handler(int number)
{
    caught = number;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};
    struct timespec limit = {.tv_sec = 5};
    sigset_t blocked, open, now;

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    sigemptyset(&open);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &blocked, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0 && caught == 0);
    CHECK_ERRNO(pselect(0, NULL, NULL, NULL, &limit, &open), EINTR);
    CHECK(caught == SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR1) == 1);
    return succeed();
}
