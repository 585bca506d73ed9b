// A loop without any call that waits for a handler to be run comes to its end when the timer expires.
// warns: computes without a call
#include "check.h"

#include <sys/time.h>

static volatile sig_atomic_t rung;

static void ring(int number)
{
    rung = number;
}

int main(void)
{
    struct itimerval once = {.it_value = {.tv_usec = 300000}};
    int64_t start = now_ns();

    CHECK(signal(SIGALRM, ring) != SIG_ERR && setitimer(ITIMER_REAL, &once, NULL) == 0);
    while (rung == 0)
        ;
    CHECK(rung == SIGALRM);
    CHECK_ELAPSED(start, 300);
    return succeed();
}
