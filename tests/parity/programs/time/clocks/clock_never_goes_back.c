// The monotonic clock never goes back, read in turns through the vDSO and through the kernel.
#include "check.h"

#include <sys/syscall.h>

int main(void)
{
    int64_t last_ns = now_ns();

    for (int i = 0; i < 2000; i++) {
        struct timespec raw;
        int64_t fast_ns = now_ns();
        int64_t slow_ns;

        CHECK(fast_ns >= last_ns);
        CHECK(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &raw) == 0);
        slow_ns = raw.tv_sec * INT64_C(1000000000) + raw.tv_nsec;
        CHECK(slow_ns >= fast_ns);
        last_ns = slow_ns;
    }
    return succeed();
}
