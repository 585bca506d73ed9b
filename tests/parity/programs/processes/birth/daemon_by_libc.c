// daemon(3): the parent is gone at once, the daemon goes on and leaves a file.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(daemon(1, 0) == 0);
        sleep_ms(30);
        _exit(open("done", O_CREAT | O_WRONLY, 0600) < 0);
    }
    CHECK_CHILD(child);
    while (access("done", F_OK) != 0) {
        CHECK(now_ns() - start_ns < 5000 * MS);
        sleep_ms(5);
    }
    CHECK(now_ns() - start_ns >= 30 * MS);
    return succeed();
}
