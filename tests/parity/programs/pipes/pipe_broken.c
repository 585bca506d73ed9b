// Writing into a pipe that nobody reads: EPIPE where SIGPIPE is ignored, death by SIGPIPE where it is not.
#include "check.h"

int main(void)
{
    int ends[2];
    int status;
    pid_t child;

    CHECK(pipe(ends) == 0 && close(ends[0]) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        CHECK(write(ends[1], "x", 1) == 0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
    signal(SIGPIPE, SIG_IGN);
    CHECK_ERRNO(write(ends[1], "x", 1), EPIPE);
    return succeed();
}
