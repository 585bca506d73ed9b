// The uptime that sysinfo tells grows with the clock.
// virtual: 10
#include "check.h"

#include <sys/sysinfo.h>

int main(void)
{
    struct sysinfo before, after;

    CHECK(sysinfo(&before) == 0);
    CHECK(sleep(10) == 0);
    CHECK(sysinfo(&after) == 0);
    CHECK(after.uptime - before.uptime >= 9 && after.uptime - before.uptime <= 11);
    CHECK(after.totalram > 0 && after.mem_unit > 0 && after.procs > 0);
    return succeed();
}
