// A timerfd armed by the parent is read by the child.
#include "check.h"

#include <sys/timerfd.h>

int main(void)
{
    struct itimerspec once = {.it_value = {.tv_nsec = 30 * MS}};
    int64_t start_ns = now_ns();
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    uint64_t count;
    pid_t child;

    CHECK(fd >= 0 && timerfd_settime(fd, 0, &once, NULL) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(read(fd, &count, sizeof count) == sizeof count && count == 1);
        CHECK_ELAPSED(start_ns, 30);
        _exit(0);
    }
    CHECK(close(fd) == 0);
    CHECK_CHILD(child);
    return succeed();
}
