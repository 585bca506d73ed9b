// Which clocks have timerfds, which flags there are, and what a timerfd that is cancelled when the clock is set does while nobody
// sets it.
// native: slow
#include "check.h"

#include <sys/timerfd.h>

int main(void)
{
    struct itimerspec times = {{0, 0}, {0, 20 * MS}};
    struct itimerspec left;
    struct timespec now;
    uint64_t count;
    int timer, monotonic;

    CHECK_ERRNO(timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0), EINVAL);
    CHECK_ERRNO(timerfd_create(CLOCK_MONOTONIC_RAW, 0), EINVAL);
    CHECK_ERRNO(timerfd_create(CLOCK_REALTIME_COARSE, 0), EINVAL);
    CHECK_ERRNO(timerfd_create(CLOCK_MONOTONIC, 8), EINVAL);
    timer = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
    monotonic = timerfd_create(CLOCK_BOOTTIME, 0);
    CHECK(timer >= 0 && monotonic >= 0);
    CHECK_ERRNO(timerfd_settime(timer, 64, &times, NULL), EINVAL);
    CHECK_ERRNO(timerfd_settime(STDOUT_FILENO, 0, &times, NULL), EINVAL);
    CHECK_ERRNO(timerfd_settime(-1, 0, &times, NULL), EBADF);
    CHECK_ERRNO(timerfd_gettime(-1, &left), EBADF);
    CHECK(timerfd_settime(monotonic, TFD_TIMER_CANCEL_ON_SET, &times, NULL) == 0);
    CHECK(read(monotonic, &count, sizeof count) == sizeof count && count == 1);

    CHECK(clock_gettime(CLOCK_REALTIME, &now) == 0);
    times.it_value = (struct timespec){now.tv_sec + 1, now.tv_nsec};
    CHECK(timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &times, NULL) == 0);
    CHECK_ERRNO(read(timer, &count, sizeof count), EAGAIN);
    sleep_ms(1100);
    CHECK(read(timer, &count, sizeof count) == sizeof count && count == 1);
    return succeed();
}
