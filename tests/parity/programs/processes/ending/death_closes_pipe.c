// A process killed while it waits leaves its pipe: the reader sees the end, at the time of the death.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int ends[2];
    char byte;
    int status;
    pid_t victim, killer;

    CHECK(pipe(ends) == 0);
    victim = fork();
    CHECK(victim >= 0);
    if (victim == 0) {
        pause();
        _exit(0);
    }
    CHECK(close(ends[1]) == 0);
    killer = fork();
    CHECK(killer >= 0);
    if (killer == 0) {
        sleep_ms(30);
        _exit(kill(victim, SIGKILL));
    }
    CHECK(read(ends[0], &byte, 1) == 0);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(waitpid(victim, &status, 0) == victim && WTERMSIG(status) == SIGKILL);
    CHECK_CHILD(killer);
    return succeed();
}
