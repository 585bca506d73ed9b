// clock_getres says something sane, and setting the clock is refused to those who may not or is left untried.
#include "check.h"

int main(void)
{
    struct timespec resolution;

    CHECK(clock_getres(CLOCK_REALTIME, &resolution) == 0);
    CHECK(resolution.tv_sec == 0 && resolution.tv_nsec >= 1 && resolution.tv_nsec <= 10 * MS);
    CHECK(clock_getres(CLOCK_MONOTONIC, &resolution) == 0);
    CHECK(resolution.tv_sec == 0 && resolution.tv_nsec >= 1 && resolution.tv_nsec <= 10 * MS);
    CHECK_ERRNO(clock_getres(99, &resolution), EINVAL);
    CHECK_ERRNO(clock_gettime(99, &resolution), EINVAL);
    return succeed();
}
