// A program that blocks every signal still sleeps, waits and talks.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    sigset_t set, now;
    int ends[2];
    char byte;
    pid_t child;

    sigfillset(&set);
    CHECK(sigprocmask(SIG_SETMASK, &set, NULL) == 0 && pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(write(ends[1], "x", 1) == 1);
        _exit(0);
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    CHECK_ELAPSED(start_ns, 20);
    CHECK_CHILD(child);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0);
    CHECK(sigismember(&now, SIGTERM) == 1 && sigismember(&now, SIGKILL) == 0);
    return succeed();
}
