// A timerfd works in a process that has changed its root to an empty directory.
#include "check.h"

#include <sys/timerfd.h>

int main(void)
{
    struct itimerspec once = {.it_value = {.tv_nsec = 20 * MS}};
    int64_t start_ns = now_ns();
    uint64_t count;
    int fd;

    CHECK(mkdir("empty", 0700) == 0);
    if (getuid() == 0)
        CHECK(chroot("empty") == 0 && chdir("/") == 0 && access("/proc", F_OK) != 0);
    fd = timerfd_create(CLOCK_MONOTONIC, 0);
    CHECK(fd >= 0 && timerfd_settime(fd, 0, &once, NULL) == 0);
    CHECK(read(fd, &count, sizeof count) == sizeof count);
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}
