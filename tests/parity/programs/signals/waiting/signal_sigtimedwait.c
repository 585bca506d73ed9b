// sigtimedwait gives up after its timeout, takes what is pending at once, and is interrupted by other handlers.
// musl: no (musl repeats sigtimedwait after a handler)
#include "check.h"

static void handler(int number)
{
    CHECK(number == SIGUSR2);
}

int main(void)
{
    struct timespec limit = {.tv_nsec = 30 * MS};
    struct timespec none = {0};
    int64_t start_ns = now_ns();
    sigset_t set;
    pid_t child;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(signal(SIGUSR2, handler) != SIG_ERR && sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK_ERRNO(sigtimedwait(&set, NULL, &none), EAGAIN);
    CHECK_ERRNO(sigtimedwait(&set, NULL, &limit), EAGAIN);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(raise(SIGUSR1) == 0 && sigtimedwait(&set, NULL, &limit) == SIGUSR1);
    CHECK_ELAPSED(start_ns, 30);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(10);
        _exit(kill(getppid(), SIGUSR2));
    }
    CHECK_ERRNO(sigtimedwait(&set, NULL, &limit), EINTR);
    CHECK_ELAPSED(start_ns, 40);
    CHECK_CHILD(child);
    return succeed();
}
