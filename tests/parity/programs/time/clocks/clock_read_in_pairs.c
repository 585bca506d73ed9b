// Two readings in a row differ once in a while, whenever one begins: MariaDB finds out the resolution of its timers so.
#include "check.h"

#include <sys/time.h>

static int64_t microseconds(void)
{
    struct timeval now;

    gettimeofday(&now, NULL);
    return now.tv_sec * 1000000 + now.tv_usec;
}

/* Pairs until three of them have differed, at most as many as somebody has patience for. */
static int pairs(void)
{
    int count = 0;

    for (int differ = 0; differ < 3 && count < 1000000; count++) {
        int64_t first = microseconds();

        differ += microseconds() != first;
    }
    return count;
}

int main(void)
{
    for (int i = 0; i < 4; i++) {
        CHECK(pairs() < 1000000);
        microseconds(); /* from here on a pair begins between two of the pairs before */
        CHECK(pairs() < 1000000);
    }
    return succeed();
}
