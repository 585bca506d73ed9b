// A shell pipeline under system() that sleeps ten seconds.
// virtual: 10
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();

    CHECK(system("(sleep 4; echo x; sleep 6) | while read line; do test $line = x || exit 1; done") == 0);
    CHECK_ELAPSED(start_ns, 10000);
    return succeed();
}
