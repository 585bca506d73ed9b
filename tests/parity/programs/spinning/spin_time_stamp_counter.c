// Loops that only read the time stamp counter until a moment are not slower than on a real computer, and hardly late.
// virtual: 4
#include "check.h"

#include <time.h>
#include <x86intrin.h>

static double seconds(void)
{
    struct timespec now;

    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Cycles in a second: by a sleep. */
static double frequency(void)
{
    double began = seconds();
    unsigned long long first = __rdtsc();

    sleep_ms(100);
    return (double)(__rdtsc() - first) / (seconds() - began);
}

int main(void)
{
    double hertz = frequency();
    double began = seconds();

    for (int i = 0; i < 40; i++) {
        unsigned long long until = __rdtsc() + (unsigned long long)(0.1 * hertz);

        while (__rdtsc() < until)
            ;
    }
    CHECK(seconds() - began > 3.9);
    CHECK(seconds() - began < 4.2);
    return succeed();
}
