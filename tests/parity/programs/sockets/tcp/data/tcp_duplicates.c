// A connection ends when its last duplicate is closed, in whatever process.
#include "inet.h"

int main(void)
{
    int64_t start_ns;
    int ends[2];
    char byte;
    int copy;
    pid_t child;

    tcp_pair(ends);
    start_ns = now_ns();
    copy = dup(ends[0]);
    CHECK(copy >= 0 && close(ends[0]) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(write(copy, "x", 1) == 1);
        sleep_ms(20);
        _exit(0);
    }
    CHECK(close(copy) == 0);
    CHECK(read(ends[1], &byte, 1) == 1);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(read(ends[1], &byte, 1) == 0);
    CHECK_ELAPSED(start_ns, 40);
    CHECK_CHILD(child);
    return succeed();
}
