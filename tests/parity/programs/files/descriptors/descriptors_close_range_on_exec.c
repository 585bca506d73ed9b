// close_range with CLOSE_RANGE_CLOEXEC marks everything, and the program exec'd afterwards still sleeps.
#include "check.h"

#include <sys/syscall.h>

enum { CLOSE_RANGE_ON_EXEC = 4 };

int main(int count, char **arguments)
{
    char text[30];
    int kept;

    if (count == 2) {
        int64_t start_ns = now_ns();

        CHECK_ERRNO(fcntl(atoi(arguments[1]), F_GETFD), EBADF);
        sleep_ms(20);
        CHECK_ELAPSED(start_ns, 20);
        return succeed();
    }
    kept = dup(1);
    CHECK(kept > 2 && syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_ON_EXEC) == 0);
    CHECK(fcntl(kept, F_GETFD) == FD_CLOEXEC);
    snprintf(text, sizeof text, "%d", kept);
    execl("/proc/self/exe", arguments[0], text, NULL);
    CHECK(!"exec returned");
}
