// times(2) counts ticks that pass while nothing is computed.
#include "check.h"

#include <sys/times.h>

int main(void)
{
    struct tms usage;
    long ticks_per_s = sysconf(_SC_CLK_TCK);
    clock_t before = times(&usage);
    clock_t after;

    CHECK(ticks_per_s > 0);
    sleep_ms(100);
    after = times(&usage);
    CHECK(after - before >= ticks_per_s / 10 - 1);
    CHECK(after - before <= ticks_per_s / 10 + 1 + tolerance_ns() * ticks_per_s / 1000000000);
    CHECK(usage.tms_utime < ticks_per_s);
    return succeed();
}
