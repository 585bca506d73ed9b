// adjtimex, clock_adjtime and adjtime tell how the clock runs to everybody; only the superuser may change that.
#include "check.h"
#include <sys/time.h>
#include <sys/timex.h>

static void check_told(const struct timex *clock)
{
    CHECK(clock->tick >= 9000 && clock->tick <= 11000);
    CHECK(clock->precision >= 1 && clock->tolerance == 500 << 16);
    CHECK(labs(clock->time.tv_sec - time(NULL)) <= 1);
    CHECK(clock->time.tv_usec >= 0 && clock->time.tv_usec < 1000000000);
}

static void ask(void)
{
    struct timex clock = {.modes = 0, .tick = 1};
    struct timeval left;

    CHECK(adjtimex(&clock) >= 0);
    check_told(&clock);
    clock = (struct timex){0};
    CHECK(clock_adjtime(CLOCK_REALTIME, &clock) >= 0);
    check_told(&clock);
    clock = (struct timex){.modes = ADJ_OFFSET_SS_READ};
    CHECK(adjtimex(&clock) >= 0);
    CHECK(adjtime(NULL, &left) == 0 && left.tv_sec == 0);
}

static void change(void)
{
    struct timex clock = {.modes = ADJ_TICK, .tick = 10000};

    CHECK_ERRNO(adjtimex(&clock), EPERM);
    CHECK_ERRNO(clock_adjtime(CLOCK_REALTIME, &clock), EPERM);
}

int main(void)
{
    struct timex clock = {0};

    ask();
    CHECK_ERRNO(clock_adjtime(CLOCK_MONOTONIC, &clock), EOPNOTSUPP);
    CHECK_ERRNO(clock_adjtime(99, &clock), EINVAL);
    if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0) {
        CHECK(errno == EINVAL); /* a user's own namespace has no other user */
        return succeed();
    }
    ask();
    change();
    return succeed();
}
