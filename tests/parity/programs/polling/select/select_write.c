// select waits for room in a full pipe, and for a connection to be made.
#include "inet.h"

#include <sys/select.h>

static char data[1 << 20];

int main(void)
{
    struct timeval limit = {.tv_sec = 5};
    int64_t start_ns = now_ns();
    int ends[2];
    fd_set set;
    pid_t child;

    CHECK(pipe(ends) == 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 && write(ends[1], data, sizeof data) > 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(read(ends[0], data, 65536) == 65536);
        _exit(0);
    }
    FD_ZERO(&set);
    FD_SET(ends[1], &set);
    CHECK(select(ends[1] + 1, NULL, &set, NULL, &limit) == 1 && FD_ISSET(ends[1], &set));
    CHECK_ELAPSED(start_ns, 20);
    CHECK_CHILD(child);
    return succeed();
}
