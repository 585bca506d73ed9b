// A program that clears its environment, sets LD_PRELOAD itself and execs a shell finds it as it set it; time is one.
#include "check.h"

extern char **environ;

int main(void)
{
    int64_t start_ns = now_ns();
    int status;

    CHECK(clearenv() == 0);
    CHECK(setenv("LD_PRELOAD", "/lib/x86_64-linux-gnu/libdl.so.2", 1) == 0 && setenv("PATH", "/bin:/usr/bin", 1) == 0);
    status = system("test \"$LD_PRELOAD\" = /lib/x86_64-linux-gnu/libdl.so.2 && sleep 0.02 && exit 6");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 6);
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}
