// A child that only computes is interrupted by its parent's timer and signal.
// emulated: no (a turn holder that never waits is preempted only on request)
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        for (volatile unsigned counter = 0;; counter++)
            continue;
    }
    sleep_ms(20);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}
