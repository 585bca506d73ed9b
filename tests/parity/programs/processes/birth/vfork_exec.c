// vfork holds the parent until the child execs or exits; the child's stores are the parent's.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int status;
    pid_t child = vfork();

    CHECK(child >= 0);
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "sleep 0.02; exit 8", NULL);
        _exit(127);
    }
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 8);
    CHECK_ELAPSED(start_ns, 20);
    child = vfork();
    if (child == 0)
        _exit(11);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 11);
    return succeed();
}
