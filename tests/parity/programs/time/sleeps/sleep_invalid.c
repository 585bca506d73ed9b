// Impossible durations are refused, and no time passes; a sleep of nothing is no sleep.
#include "check.h"

int main(void)
{
    struct timespec negative = {.tv_sec = -1};
    struct timespec too_fine = {.tv_nsec = 1000000000};
    struct timespec nothing = {0};
    int64_t start_ns = now_ns();

    CHECK_ERRNO(nanosleep(&negative, NULL), EINVAL);
    CHECK_ERRNO(nanosleep(&too_fine, NULL), EINVAL);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &too_fine, NULL) == EINVAL);
    CHECK(clock_nanosleep(99, 0, &nothing, NULL) == EINVAL);
    CHECK(nanosleep(&nothing, NULL) == 0);
    CHECK(usleep(0) == 0);
    CHECK(sleep(0) == 0);
    CHECK_ELAPSED(start_ns, 0);
    return succeed();
}
