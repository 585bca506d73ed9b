// wait() hands over children in the order in which they end, each at its time.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    pid_t children[3];

    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0) {
            sleep_ms(90 - 30 * i);
            _exit(i);
        }
    }
    for (int i = 2; i >= 0; i--) {
        int status;

        CHECK(wait(&status) == children[i]);
        CHECK(WEXITSTATUS(status) == i);
        CHECK_ELAPSED(start_ns, 90 - 30 * i);
    }
    return succeed();
}
