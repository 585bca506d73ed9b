// A child that is killed and waited for before it has run at all is gone, and nobody else is the worse for it.
#include "check.h"

int main(void)
{
    int status;

    for (int round = 0; round < 20; round++) {
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            sleep_ms(1000);
            _exit(1);
        }
        CHECK(kill(child, SIGKILL) == 0);
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        child = fork();
        CHECK(child >= 0);
        if (child == 0)
            _exit(0);
        CHECK_CHILD(child);
    }
    return succeed();
}
