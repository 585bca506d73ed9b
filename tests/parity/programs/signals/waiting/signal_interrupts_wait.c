// Without SA_RESTART waitpid fails with EINTR, and succeeds when called again.
#include "check.h"

static void handler(int number)
{
    CHECK(number == SIGALRM);
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};
    struct itimerspec once = {.it_value = {.tv_nsec = 20 * MS}};
    int64_t start_ns = now_ns();
    timer_t timer;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(40);
        _exit(0);
    }
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0 && timer_settime(timer, 0, &once, NULL) == 0);
    CHECK_ERRNO(waitpid(child, NULL, 0), EINTR);
    CHECK_ELAPSED(start_ns, 20);
    CHECK_CHILD(child);
    CHECK_ELAPSED(start_ns, 40);
    return succeed();
}
