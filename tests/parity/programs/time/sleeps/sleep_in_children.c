// Ten children that sleep ten seconds side by side take ten seconds, not a hundred.
// virtual: 10
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    pid_t children[10];

    for (int i = 0; i < 10; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0) {
            CHECK(sleep(10) == 0);
            CHECK_ELAPSED(start_ns, 10000);
            _exit(0);
        }
    }
    for (int i = 0; i < 10; i++)
        CHECK_CHILD(children[i]);
    CHECK_ELAPSED(start_ns, 10000);
    return succeed();
}
