// siglongjmp out of a handler, out of a sleep that would be endless.
#include "check.h"

#include <setjmp.h>

static sigjmp_buf place;

static void handler(int number)
{
    siglongjmp(place, number);
}

int main(void)
{
    struct itimerspec once = {.it_value = {.tv_nsec = 20 * MS}};
    int64_t start_ns = now_ns();
    timer_t timer;

    CHECK(signal(SIGALRM, handler) != SIG_ERR);
    CHECK(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0);
    for (volatile int round = 1; round <= 3; round++) {
        if (sigsetjmp(place, 1) == 0) {
            CHECK(timer_settime(timer, 0, &once, NULL) == 0);
            for (;;)
                sleep(1000);
        }
        CHECK_ELAPSED(start_ns, 20 * round);
    }
    return succeed();
}
