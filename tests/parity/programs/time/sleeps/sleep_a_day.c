// A whole day, in the steps of a daemon's housekeeping loop.
// virtual: 86400
// native: no (it would take a day)
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    time_t start_s = time(NULL);

    for (int minute = 0; minute < 24 * 60; minute++)
        CHECK(sleep(60) == 0);
    CHECK(now_ns() - start_ns >= 86400 * 1000 * MS);
    CHECK(now_ns() - start_ns < 86401 * 1000 * MS);
    CHECK(time(NULL) - start_s >= 86400);
    return succeed();
}
