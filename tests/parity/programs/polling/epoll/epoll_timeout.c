// epoll_wait and epoll_pwait2 return 0 after their timeouts, at once for 0.
#include "check.h"

#include <sys/epoll.h>
#include <sys/syscall.h>

int main(void)
{
    struct timespec limit = {.tv_nsec = 50 * MS};
    struct epoll_event event;
    int64_t start_ns = now_ns();
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    CHECK(epoll >= 0);
    CHECK(epoll_wait(epoll, &event, 1, 50) == 0);
    CHECK_ELAPSED(start_ns, 50);
    CHECK(syscall(SYS_epoll_pwait2, epoll, &event, 1, &limit, NULL, 0) == 0);
    CHECK_ELAPSED(start_ns, 100);
    CHECK(epoll_wait(epoll, &event, 1, 0) == 0);
    CHECK_ELAPSED(start_ns, 100);
    CHECK_ERRNO(epoll_wait(epoll, &event, 0, 0), EINVAL);
    CHECK_ERRNO(epoll_wait(0x7fff, &event, 1, 0), EBADF);
    return succeed();
}
