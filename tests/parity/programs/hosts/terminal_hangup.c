// When the master of a terminal is closed, the session on the slave gets SIGHUP and dies of it.
#include "check.h"

#include <pty.h>

int main(void)
{
    int64_t start_ns = now_ns();
    char byte;
    int master, status;
    pid_t child = forkpty(&master, NULL, NULL, NULL);

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(write(1, "x", 1) == 1);
        for (;;)
            pause();
    }
    CHECK(read(master, &byte, 1) == 1);
    sleep_ms(20);
    CHECK(close(master) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP);
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}
