// Programs started through `env -i`, twice over, still live in the same time.
// virtual: 10
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        execl("/usr/bin/env", "env", "-i", "/usr/bin/env", "-i", "/bin/sh", "-c", "/bin/sleep 10; exit 0", NULL);
        _exit(127);
    }
    CHECK_CHILD(child);
    CHECK_ELAPSED(start_ns, 10000);
    return succeed();
}
