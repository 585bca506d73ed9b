// A child that asked for a signal on its parent's death gets it.
#include "check.h"

#include <sys/prctl.h>

int main(void)
{
    int64_t start_ns = now_ns();
    int ends[2];
    char byte;
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (fork() == 0) {
            CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
            sleep_ms(100000);
            _exit(0);
        }
        sleep_ms(30);
        _exit(0);
    }
    CHECK(close(ends[1]) == 0);
    CHECK(read(ends[0], &byte, 1) == 0);
    CHECK_ELAPSED(start_ns, 30);
    CHECK_CHILD(child);
    return succeed();
}
