// The sleeps again, short enough to be tried natively each time.
#include "check.h"

int main(void)
{
    const struct timespec wanted = {.tv_nsec = 20 * MS};
    int64_t start_ns = now_ns();

    CHECK(nanosleep(&wanted, NULL) == 0);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(usleep(20000) == 0);
    CHECK_ELAPSED(start_ns, 40);
    CHECK(clock_nanosleep(CLOCK_REALTIME, 0, &wanted, NULL) == 0);
    CHECK_ELAPSED(start_ns, 60);
    CHECK(clock_nanosleep(CLOCK_BOOTTIME, 0, &wanted, NULL) == 0);
    CHECK_ELAPSED(start_ns, 80);
    return succeed();
}
