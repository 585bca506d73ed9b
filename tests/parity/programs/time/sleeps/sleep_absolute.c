// An absolute sleep on the monotonic clock ends at its deadline; one whose deadline has passed does not wait.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    struct timespec deadline = timespec_from(start_ns + 50 * MS);
    struct timespec past = {.tv_sec = 0};

    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == 0);
    CHECK_ELAPSED(start_ns, 50);
    start_ns = now_ns();
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == 0);
    CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL) == 0);
    CHECK_ELAPSED(start_ns, 0);
    return succeed();
}
