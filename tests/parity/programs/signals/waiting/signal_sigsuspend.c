// sigsuspend waits with another mask, returns after the handler, and puts the mask back.
#include "check.h"

static volatile sig_atomic_t caught;

static void handler(int number)
{
    caught = number;
}

int main(void)
{
    int64_t start_ns = now_ns();
    sigset_t blocked, open;
    pid_t child;

    CHECK(signal(SIGUSR1, handler) != SIG_ERR);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &blocked, &open) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(kill(getppid(), SIGUSR1) == 0);
        sleep_ms(30);
        _exit(kill(getppid(), SIGUSR1));
    }
    sleep_ms(10);
    CHECK(caught == 0);
    CHECK_ERRNO(sigsuspend(&open), EINTR);
    CHECK(caught == SIGUSR1);
    CHECK_ELAPSED(start_ns, 10);
    caught = 0;
    CHECK_ERRNO(sigsuspend(&open), EINTR);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &open) == 0 && sigismember(&open, SIGUSR1) == 1);
    CHECK_CHILD(child);
    return succeed();
}
