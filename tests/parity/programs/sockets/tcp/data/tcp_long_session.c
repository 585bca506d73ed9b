// A request each second over one connection: ten seconds.
// virtual: 10
#include "inet.h"

int main(void)
{
    int64_t start_ns;
    int ends[2];
    char byte;
    pid_t child;

    tcp_pair(ends);
    start_ns = now_ns();
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(close(ends[0]) == 0);
        while (read(ends[1], &byte, 1) == 1)
            write_all(ends[1], &byte, 1);
        _exit(0);
    }
    for (int i = 0; i < 10; i++) {
        sleep_ms(1000);
        write_all(ends[0], "x", 1);
        read_all(ends[0], &byte, 1);
    }
    CHECK_ELAPSED(start_ns, 10000);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    CHECK_CHILD(child);
    return succeed();
}
