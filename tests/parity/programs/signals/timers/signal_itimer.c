// setitimer with an interval sends its signal again and again; getitimer tells what is left.
#include "check.h"

#include <sys/time.h>

static volatile sig_atomic_t count;

static void handler(int number)
{
    CHECK(number == SIGALRM);
    count++;
}

int main(void)
{
    struct itimerval every = {.it_value = {.tv_usec = 30000}, .it_interval = {.tv_usec = 20000}};
    struct itimerval off = {0};
    struct itimerval left;
    int64_t start_ns = now_ns();

    CHECK(signal(SIGALRM, handler) != SIG_ERR);
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
    CHECK(getitimer(ITIMER_REAL, &left) == 0);
    CHECK(left.it_value.tv_usec <= 30000 && left.it_interval.tv_usec == 20000);
    while (count < 4)
        CHECK_ERRNO(pause(), EINTR);
    CHECK_ELAPSED(start_ns, 90);
    CHECK(setitimer(ITIMER_REAL, &off, &left) == 0 && left.it_interval.tv_usec == 20000);
    sleep_ms(30);
    CHECK(count == 4);
    return succeed();
}
