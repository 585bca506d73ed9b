// The CPU time that getrusage tells is small for a process that sleeps, and never goes back.
#include "check.h"

#include <sys/resource.h>

static int64_t used_ns(int who)
{
    struct rusage usage;

    CHECK(getrusage(who, &usage) == 0);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
}

int main(void)
{
    int64_t before_ns = used_ns(RUSAGE_SELF);
    int64_t after_ns;

    sleep_ms(100);
    after_ns = used_ns(RUSAGE_SELF);
    CHECK(before_ns >= 0 && after_ns >= before_ns && after_ns < before_ns + 90 * MS);
    CHECK(used_ns(RUSAGE_CHILDREN) >= 0);
    CHECK_ERRNO(getrusage(99, NULL), EINVAL);
    return succeed();
}
