// kill(-pgid) and killpg reach every member of the group and nobody else.
#include "check.h"

int main(void)
{
    pid_t members[3];
    pid_t outsider = 0;
    int status;

    for (int i = 0; i < 4; i++) {
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            sleep_ms(i < 3 ? 100000 : 30);
            _exit(0);
        }
        if (i < 3) {
            members[i] = child;
            CHECK(setpgid(child, members[0]) == 0);
        } else {
            outsider = child;
        }
    }
    sleep_ms(10);
    CHECK(killpg(members[0], 0) == 0);
    CHECK(kill(-members[0], SIGTERM) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(waitpid(members[i], &status, 0) == members[i] && WTERMSIG(status) == SIGTERM);
    CHECK_ERRNO(kill(-members[0], 0), ESRCH);
    CHECK_CHILD(outsider);
    return succeed();
}
