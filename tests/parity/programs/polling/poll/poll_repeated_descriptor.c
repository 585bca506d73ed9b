// poll takes one descriptor several times, and skips negative numbers.
#include "check.h"

#include <poll.h>

int main(void)
{
    struct pollfd polled[4];
    int64_t start_ns = now_ns();
    int ends[2];
    pid_t child;

    CHECK(pipe(ends) == 0);
    for (int i = 0; i < 3; i++)
        polled[i] = (struct pollfd){.fd = ends[0], .events = i < 2 ? POLLIN : 0};
    polled[3] = (struct pollfd){.fd = ~ends[0], .events = POLLIN};
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        _exit(write(ends[1], "x", 1) != 1);
    }
    CHECK(poll(polled, 4, 5000) == 2 && polled[0].revents == POLLIN && polled[1].revents == POLLIN);
    CHECK(polled[2].revents == 0 && polled[3].revents == 0);
    CHECK_ELAPSED(start_ns, 20);
    CHECK_CHILD(child);
    return succeed();
}
