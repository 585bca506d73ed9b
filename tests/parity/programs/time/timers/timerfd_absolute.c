// A timerfd with an absolute deadline, on the wall clock; one in the past rings at once.
#include "check.h"

#include <sys/timerfd.h>

int main(void)
{
    int64_t start_ns = now_ns();
    int64_t deadline_ns = clock_ns(CLOCK_REALTIME) + 30 * MS;
    struct itimerspec setting = {.it_value = timespec_from(deadline_ns)};
    int fd = timerfd_create(CLOCK_REALTIME, 0);
    uint64_t count;

    CHECK(fd >= 0 && timerfd_settime(fd, TFD_TIMER_ABSTIME, &setting, NULL) == 0);
    CHECK(read(fd, &count, sizeof count) == sizeof count && count == 1);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(clock_ns(CLOCK_REALTIME) >= deadline_ns);
    CHECK(timerfd_settime(fd, TFD_TIMER_ABSTIME, &setting, NULL) == 0);
    CHECK(read(fd, &count, sizeof count) == sizeof count && count == 1);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}
