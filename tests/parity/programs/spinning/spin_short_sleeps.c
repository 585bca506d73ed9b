// A loop of sleeps that take no time, until a moment, is not slower than on a real computer.
// virtual: 4
#include "check.h"

#include <time.h>

static double seconds(void)
{
    struct timespec now;

    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(void)
{
    struct timespec nothing = {0, 0}, past = {1, 0};
    double began = seconds();

    while (seconds() - began < 2)
        CHECK(nanosleep(&nothing, NULL) == 0);
    while (seconds() - began < 4)
        CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL) == 0);
    CHECK(seconds() - began < 4.1);
    return succeed();
}
