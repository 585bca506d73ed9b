// waitpid with WNOHANG in a tight loop ends when the child does.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(2);
        _exit(5);
    }
    while (waitpid(child, &status, WNOHANG) == 0)
        continue;
    CHECK(WEXITSTATUS(status) == 5);
    CHECK_ELAPSED(start_ns, 2);
    return succeed();
}
