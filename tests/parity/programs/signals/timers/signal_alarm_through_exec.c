// An alarm survives exec, and is not inherited by a child.
// virtual: 3
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int status;
    pid_t child;

    CHECK(alarm(100) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(alarm(3) == 0);
        execl("/bin/sleep", "sleep", "50", NULL);
        _exit(127);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    CHECK_ELAPSED(start_ns, 3000);
    CHECK(alarm(0) >= 96);
    return succeed();
}
