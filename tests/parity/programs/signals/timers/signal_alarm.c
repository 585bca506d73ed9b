// alarm(5) and pause; alarm tells what was left of the one that it replaces, and sleep(3) says what a signal cut off.
// virtual: 10
#include "check.h"

static volatile sig_atomic_t count;

static void handler(int number)
{
    CHECK(number == SIGALRM);
    count++;
}

int main(void)
{
    int64_t start_ns = now_ns();
    unsigned left_s;

    CHECK(signal(SIGALRM, handler) != SIG_ERR);
    CHECK(alarm(100) == 0);
    CHECK(alarm(5) == 100);
    CHECK_ERRNO(pause(), EINTR);
    CHECK(count == 1);
    CHECK_ELAPSED(start_ns, 5000);
    CHECK(alarm(5) == 0);
    left_s = sleep(8); /* whole seconds of a little less than 3 natively, of 3 sharp in virtual time */
    CHECK(left_s == 2 || left_s == 3);
    CHECK(count == 2);
    CHECK_ELAPSED(start_ns, 10000);
    CHECK(alarm(5) == 0 && alarm(0) == 5);
    return succeed();
}
