// waitpid(-pgid) waits for a member of that group only; waitpid(0) for one of the own group.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    pid_t stranger = fork();
    pid_t sibling;
    int status;

    CHECK(stranger >= 0);
    if (stranger == 0) {
        sleep_ms(40);
        _exit(1);
    }
    CHECK(setpgid(stranger, stranger) == 0);
    sibling = fork();
    CHECK(sibling >= 0);
    if (sibling == 0) {
        sleep_ms(20);
        _exit(2);
    }
    CHECK(waitpid(-stranger, &status, WNOHANG) == 0);
    CHECK(waitpid(-stranger, &status, 0) == stranger && WEXITSTATUS(status) == 1);
    CHECK_ELAPSED(start_ns, 40);
    CHECK(waitpid(0, &status, 0) == sibling && WEXITSTATUS(status) == 2);
    return succeed();
}
