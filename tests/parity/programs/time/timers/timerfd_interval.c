// A timerfd with an interval counts what nobody has read; settime tells the old setting and can disarm.
#include "check.h"

#include <sys/timerfd.h>

int main(void)
{
    struct itimerspec every = {.it_value = {.tv_nsec = 10 * MS}, .it_interval = {.tv_nsec = 20 * MS}};
    struct itimerspec off = {0};
    struct itimerspec old;
    int64_t start_ns = now_ns();
    int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
    uint64_t count;

    CHECK(fd >= 0);
    CHECK_ERRNO(read(fd, &count, sizeof count), EAGAIN);
    CHECK(timerfd_settime(fd, 0, &every, NULL) == 0);
    CHECK(fcntl(fd, F_SETFL, 0) == 0);
    CHECK(read(fd, &count, sizeof count) == sizeof count && count == 1);
    CHECK_ELAPSED(start_ns, 10);
    sleep_ms(50);
    CHECK(read(fd, &count, sizeof count) == sizeof count && count >= 2);
    CHECK(!is_emulated() || count == 2);
    CHECK(timerfd_settime(fd, 0, &off, &old) == 0 && old.it_interval.tv_nsec == 20 * MS);
    sleep_ms(30);
    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    CHECK_ERRNO(read(fd, &count, sizeof count), EAGAIN);
    return succeed();
}
