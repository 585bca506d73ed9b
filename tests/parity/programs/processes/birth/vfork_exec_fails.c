// A vfork child whose exec fails can still end; the parent goes on in its own time.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    volatile int error = 0;
    int status;
    pid_t child = vfork();

    CHECK(child >= 0);
    if (child == 0) {
        execl("/does/not/exist", "nothing", NULL);
        error = errno;
        _exit(126);
    }
    CHECK(error == ENOENT || error == 0); /* 0 where vfork is a fork */
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 126);
    sleep_ms(10);
    CHECK_ELAPSED(start_ns, 10);
    return succeed();
}
