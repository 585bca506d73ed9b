// A sleeping child that is stopped and continued ends its sleep on time if that comes later, at once if it has passed.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(40);
        CHECK(now_ns() - start_ns >= 80 * MS);
        sleep_ms(40);
        _exit(3);
    }
    sleep_ms(20);
    CHECK(kill(child, SIGSTOP) == 0);
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    CHECK_ELAPSED(start_ns, 20);
    sleep_ms(60);
    CHECK(waitpid(child, &status, WNOHANG | WUNTRACED) == 0);
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(waitpid(child, &status, WCONTINUED) == child && WIFCONTINUED(status));
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    CHECK_ELAPSED(start_ns, 120);
    return succeed();
}
