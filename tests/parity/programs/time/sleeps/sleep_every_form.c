// Every libc sleep advances all clocks by what it was asked for.
// virtual: 10
#include "check.h"

static void check_both(int64_t monotonic_ns, int64_t realtime_ns)
{
    CHECK_ELAPSED(monotonic_ns, 2000);
    CHECK(clock_ns(CLOCK_REALTIME) - realtime_ns >= 2000 * MS);
}

int main(void)
{
    const struct timespec two = {.tv_sec = 2};

    for (int form = 0; form < 5; form++) {
        int64_t monotonic_ns = now_ns();
        int64_t realtime_ns = clock_ns(CLOCK_REALTIME);
        struct timespec deadline = timespec_from(realtime_ns + 2000 * MS);

        switch (form) {
        case 0: CHECK(nanosleep(&two, NULL) == 0); break;
        case 1: CHECK(usleep(2000000) == 0); break;
        case 2: CHECK(sleep(2) == 0); break;
        case 3: CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &two, NULL) == 0); break;
        case 4: CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &deadline, NULL) == 0); break;
        }
        check_both(monotonic_ns, realtime_ns);
    }
    return succeed();
}
