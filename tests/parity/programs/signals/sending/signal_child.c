// A child that waits in pause handles its parent's signals one by one, and dies of SIGTERM.
#include "check.h"

static void handler(int number)
{
    CHECK(number == SIGUSR1);
    CHECK(write(STDOUT_FILENO, "x", 1) == 1);
}

int main(void)
{
    int ends[2];
    char byte;
    int status;
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
        CHECK(signal(SIGUSR1, handler) != SIG_ERR);
        handler(SIGUSR1);
        for (;;)
            CHECK_ERRNO(pause(), EINTR);
    }
    for (int i = 0; i < 5; i++) {
        CHECK(read(ends[0], &byte, 1) == 1);
        CHECK(kill(child, SIGUSR1) == 0);
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    CHECK(kill(child, SIGTERM) == 0);
    CHECK(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGTERM);
    CHECK_ERRNO(kill(child, 0), ESRCH);
    return succeed();
}
