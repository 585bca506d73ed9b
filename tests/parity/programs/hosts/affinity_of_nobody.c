// The processors of a process that cannot exist are nobody's.
#include "check.h"

#include <sched.h>

int main(void)
{
    cpu_set_t set;

    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
    CHECK_ERRNO(sched_getaffinity(-1, sizeof set, &set), ESRCH);
    CHECK_ERRNO(sched_setaffinity(-1, sizeof set, &set), ESRCH);
    return succeed();
}
