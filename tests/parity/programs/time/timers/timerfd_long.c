// An epoll loop on a timerfd that rings each second, ten times.
// virtual: 10
#include "check.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

int main(void)
{
    struct itimerspec every = {.it_value = {.tv_sec = 1}, .it_interval = {.tv_sec = 1}};
    struct epoll_event event = {.events = EPOLLIN};
    int64_t start_ns = now_ns();
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    int epoll = epoll_create1(0);
    uint64_t count, total = 0;

    CHECK(fd >= 0 && epoll >= 0 && timerfd_settime(fd, 0, &every, NULL) == 0);
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
    while (total < 10) {
        CHECK(epoll_wait(epoll, &event, 1, -1) == 1);
        CHECK(read(fd, &count, sizeof count) == sizeof count);
        total += count;
    }
    CHECK_ELAPSED(start_ns, 10000);
    return succeed();
}
