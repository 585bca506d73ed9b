// A tight loop that looks for a file ends when another process makes it, 2 ms later.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(2);
        _exit(open("sign", O_CREAT | O_WRONLY, 0600) < 0);
    }
    while (access("sign", F_OK) != 0)
        CHECK(errno == ENOENT);
    CHECK_ELAPSED(start_ns, 2);
    CHECK_CHILD(child);
    return succeed();
}
