// A thousand ticks of a timer that rings every ten milliseconds.
// virtual: 10
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
    struct itimerval every = {.it_value = {.tv_usec = 10000}, .it_interval = {.tv_usec = 10000}};
    int64_t start_ns = now_ns();
    sigset_t blocked, open;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGALRM);
    CHECK(signal(SIGALRM, handler) != SIG_ERR && sigprocmask(SIG_BLOCK, &blocked, &open) == 0);
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
    while (now_ns() - start_ns < 10000 * MS)
        CHECK_ERRNO(sigsuspend(&open), EINTR);
    CHECK(count >= 900 && count <= 1000);
    CHECK(!is_emulated() || count == 1000);
    return succeed();
}
