// /proc/uptime advances with the clock, and agrees with CLOCK_BOOTTIME.
// virtual: 10
#include "check.h"

static double uptime_s(void)
{
    FILE *file = fopen("/proc/uptime", "r");
    double value;

    CHECK(file != NULL && fscanf(file, "%lf", &value) == 1 && fclose(file) == 0);
    return value;
}

int main(void)
{
    double before_s = uptime_s();

    CHECK(sleep(10) == 0);
    CHECK(uptime_s() - before_s >= 9.9 && uptime_s() - before_s < 11);
    CHECK(uptime_s() - clock_ns(CLOCK_BOOTTIME) / 1e9 < 1 && uptime_s() - clock_ns(CLOCK_BOOTTIME) / 1e9 > -1);
    return succeed();
}
