// After each kind of wait for a second, time() says at least a second later.
// virtual: 3
#include "check.h"

#include <poll.h>
#include <sys/select.h>

int main(void)
{
    struct timeval second = {.tv_sec = 1};
    int64_t start_s = clock_ns(CLOCK_REALTIME_COARSE) / 1000000000;

    CHECK(sleep(1) == 0);
    CHECK(time(NULL) >= start_s + 1);
    CHECK(poll(NULL, 0, 1000) == 0);
    CHECK(time(NULL) >= start_s + 2);
    CHECK(select(0, NULL, NULL, NULL, &second) == 0);
    CHECK(time(NULL) >= start_s + 3);
    return succeed();
}
