// One sleep moves every clock by the same amount.
#include "check.h"

#include <sys/time.h>

static const clockid_t clocks[] = {CLOCK_REALTIME,  CLOCK_MONOTONIC,       CLOCK_MONOTONIC_RAW,   CLOCK_BOOTTIME,
                                   CLOCK_TAI,       CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE};
enum { CLOCKS = sizeof clocks / sizeof *clocks };

int main(void)
{
    int64_t before[CLOCKS];

    for (int i = 0; i < CLOCKS; i++)
        before[i] = clock_ns(clocks[i]);
    sleep_ms(100);
    for (int i = 0; i < CLOCKS; i++) {
        int64_t advance_ns = clock_ns(clocks[i]) - before[i];

        /* The coarse clocks tick every 10 ms at worst; the raw one is not disciplined. */
        CHECK(advance_ns >= 89 * MS);
        CHECK(advance_ns <= 111 * MS + tolerance_ns());
    }
    return succeed();
}
