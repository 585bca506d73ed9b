// A one-shot timerfd: poll and a blocking read wait for it; it rings once.
#include "check.h"

#include <poll.h>
#include <sys/timerfd.h>

int main(void)
{
    struct itimerspec once = {.it_value = {.tv_nsec = 30 * MS}};
    struct itimerspec left;
    int64_t start_ns = now_ns();
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    uint64_t count;

    CHECK(fd >= 0 && timerfd_settime(fd, 0, &once, NULL) == 0);
    CHECK(timerfd_gettime(fd, &left) == 0 && left.it_value.tv_nsec > 0 && left.it_value.tv_nsec <= 30 * MS);
    CHECK(poll(&polled, 1, 5000) == 1 && polled.revents == POLLIN);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(read(fd, &count, sizeof count) == sizeof count && count == 1);
    CHECK(timerfd_gettime(fd, &left) == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    CHECK(poll(&polled, 1, 10) == 0);
    CHECK(timerfd_settime(fd, 0, &once, NULL) == 0);
    CHECK(read(fd, &count, sizeof count) == sizeof count && count == 1);
    CHECK_ELAPSED(start_ns, 70);
    return succeed();
}
