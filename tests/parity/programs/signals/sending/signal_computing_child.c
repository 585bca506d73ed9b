// A child that only computes does not keep its parent from waking up and killing it.
// warns: not deterministic
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
    CHECK(now_ns() - start_ns >= 20 * MS);
    return succeed();
}
