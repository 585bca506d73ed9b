// All ways of asking for the wall clock tell the same time; so do the monotonic ones.
#include "check.h"

#include <sys/syscall.h>
#include <sys/time.h>

static int is_near(int64_t one_ns, int64_t other_ns, int64_t limit_ns)
{
    return llabs(one_ns - other_ns) <= limit_ns;
}

int main(void)
{
    struct timeval day;
    struct timespec standard, raw;
    int64_t now = clock_ns(CLOCK_REALTIME);

    CHECK(gettimeofday(&day, NULL) == 0);
    CHECK(timespec_get(&standard, TIME_UTC) == TIME_UTC);
    CHECK(syscall(SYS_clock_gettime, CLOCK_REALTIME, &raw) == 0);
    CHECK(is_near(day.tv_sec * INT64_C(1000000000) + day.tv_usec * 1000, now, tolerance_ns()));
    CHECK(is_near(standard.tv_sec * INT64_C(1000000000) + standard.tv_nsec, now, tolerance_ns()));
    CHECK(is_near(raw.tv_sec * INT64_C(1000000000) + raw.tv_nsec, now, tolerance_ns()));
    CHECK(is_near(clock_ns(CLOCK_REALTIME_COARSE), now, tolerance_ns()));
    CHECK(is_near(time(NULL) * INT64_C(1000000000), now, 1000 * MS + tolerance_ns()));
    CHECK(is_near(syscall(SYS_time, NULL) * INT64_C(1000000000), now, 1000 * MS + tolerance_ns()));
    CHECK(is_near(clock_ns(CLOCK_MONOTONIC_COARSE), now_ns(), tolerance_ns()));
    CHECK(time(NULL) > 0 && now_ns() > 0);
    return succeed();
}
