/* What the programs for tests of determinism share: checks that say where, random numbers, sleeps and moments. */
#ifndef MOMENTS_H
#define MOMENTS_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                                    \
    do {                                                                                                    \
        if (!(condition)) {                                                                                 \
            dprintf(2, "%s:%d: failed: %s (%s)\n", __FILE__, __LINE__, #condition, strerror(errno));       \
            _exit(1);                                                                                       \
        }                                                                                                   \
    } while (0)

static inline void sleep_us(long microseconds)
{
    struct timespec left = {microseconds / 1000000, microseconds % 1000000 * 1000};

    while (nanosleep(&left, &left) == -1)
        CHECK(errno == EINTR);
}

static inline long random_below(long limit)
{
    uint32_t value;

    CHECK(getrandom(&value, sizeof value, 0) == sizeof value);
    return value % limit;
}

static inline long now_us(void)
{
    struct timespec now;

    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

#endif
