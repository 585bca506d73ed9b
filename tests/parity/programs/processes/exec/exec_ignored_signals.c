// Through exec, ignored signals stay ignored, caught ones become default, and the mask is kept.
#include "check.h"

static void handler(int number)
{
    (void)number;
}

int main(int count, char **arguments)
{
    struct sigaction action;
    sigset_t mask;

    if (count == 2) {
        CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_IGN);
        CHECK(sigaction(SIGUSR2, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
        CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0);
        CHECK(sigismember(&mask, SIGHUP) == 1 && sigismember(&mask, SIGUSR1) == 0);
        CHECK(sigpending(&mask) == 0 && sigismember(&mask, SIGHUP) == 1);
        return succeed();
    }
    sigemptyset(&mask);
    sigaddset(&mask, SIGHUP);
    CHECK(signal(SIGUSR1, SIG_IGN) != SIG_ERR && signal(SIGUSR2, handler) != SIG_ERR);
    CHECK(sigprocmask(SIG_SETMASK, &mask, NULL) == 0 && raise(SIGHUP) == 0);
    execl("/proc/self/exe", arguments[0], "again", NULL);
    CHECK(!"exec returned");
}
