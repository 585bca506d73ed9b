// A tight loop of non-blocking reads ends when another process writes, 2 ms later.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int ends[2];
    char byte;
    pid_t child;

    CHECK(pipe2(ends, O_NONBLOCK) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(2);
        _exit(write(ends[1], "x", 1) != 1);
    }
    while (read(ends[0], &byte, 1) != 1)
        CHECK(errno == EAGAIN);
    CHECK_ELAPSED(start_ns, 2);
    CHECK_CHILD(child);
    return succeed();
}
