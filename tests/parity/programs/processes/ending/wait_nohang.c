// waitpid with WNOHANG returns 0 while the child lives, and then its pid.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int status, polls = 0;
    pid_t child = fork();
    pid_t got;

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(50);
        _exit(7);
    }
    CHECK(waitpid(child, &status, WNOHANG) == 0);
    while ((got = waitpid(child, &status, WNOHANG)) == 0) {
        sleep_ms(10);
        polls++;
    }
    CHECK(got == child && WEXITSTATUS(status) == 7);
    CHECK(polls >= 1);
    CHECK(now_ns() - start_ns >= 50 * MS);
    return succeed();
}
