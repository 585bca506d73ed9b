// With SIGCHLD ignored children leave no zombies, and wait returns ECHILD once all are gone.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();

    CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            sleep_ms(20 + 20 * i);
            _exit(0);
        }
    }
    CHECK_ERRNO(wait(NULL), ECHILD);
    CHECK_ELAPSED(start_ns, 40);
    return succeed();
}
