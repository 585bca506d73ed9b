/* Reads the clock at two places, before and after it computes; says how long was computed, and how long nothing was done, in
 * microseconds. */
#include <stdio.h>
#include <sys/time.h>

static long us_of(const struct timeval *time)
{
    return time->tv_sec * 1000000 + time->tv_usec;
}

static void compute(void)
{
    volatile unsigned long sum = 0;

    for (unsigned long i = 0; i < 500000; i++)
        sum += i;
}

int main(void)
{
    struct timeval before, after;
    long computing_us = 0, idle_us = 0;

    gettimeofday(&after, NULL);
    for (int i = 0; i < 200; i++) {
        idle_us -= us_of(&after);
        gettimeofday(&before, NULL);
        idle_us += us_of(&before);
        compute();
        gettimeofday(&after, NULL);
        computing_us += us_of(&after) - us_of(&before);
    }
    printf("computing %ld\nidle %ld\n", computing_us, idle_us);
    return 0;
}
