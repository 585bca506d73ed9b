// A child stopped for ten seconds does not hold the clock.
// virtual: 10
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        for (;;)
            sleep_ms(100);
    }
    sleep_ms(1000);
    CHECK(kill(child, SIGSTOP) == 0);
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    sleep_ms(9000);
    CHECK_ELAPSED(start_ns, 10000);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
    return succeed();
}
