// Sleeping uses no CPU time: the process and thread clocks and getrusage stay far behind the wall clock.
// virtual: 10
#include "check.h"

#include <sys/resource.h>

int main(void)
{
    struct rusage usage;

    CHECK(sleep(10) == 0);
    CHECK(clock_ns(CLOCK_PROCESS_CPUTIME_ID) < 1000 * MS);
    CHECK(clock_ns(CLOCK_THREAD_CPUTIME_ID) < 1000 * MS);
    CHECK(clock() < 1 * CLOCKS_PER_SEC);
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    CHECK(usage.ru_utime.tv_sec == 0 && usage.ru_stime.tv_sec == 0);
    return succeed();
}
