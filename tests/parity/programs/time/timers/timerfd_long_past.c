// A timerfd on the wall clock whose absolute deadline lies decades back rings at once.
#include "check.h"

#include <poll.h>
#include <sys/timerfd.h>

int main(void)
{
    struct itimerspec past = {.it_value = {.tv_sec = 1000000}};
    int64_t start_ns = now_ns();
    int fd = timerfd_create(CLOCK_REALTIME, 0);
    struct pollfd polled = {.fd = fd, .events = POLLIN};

    CHECK(fd >= 0 && timerfd_settime(fd, TFD_TIMER_ABSTIME, &past, NULL) == 0);
    CHECK(poll(&polled, 1, 1000) == 1);
    CHECK_ELAPSED(start_ns, 0);
    CHECK_ERRNO(timerfd_settime(fd, 0x100, &past, NULL), EINVAL);
    return succeed();
}
