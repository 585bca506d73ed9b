// close_range over everything beyond stderr leaves the program able to wait; so does a loop up to the limit.
#include "check.h"

#include <sys/syscall.h>

int main(void)
{
    int64_t start_ns = now_ns();
    int ends[2];

    CHECK(syscall(SYS_close_range, 3, ~0U, 0) == 0);
    sleep_ms(10);
    CHECK_ELAPSED(start_ns, 10);
    for (long fd = sysconf(_SC_OPEN_MAX) - 1; fd > 2; fd--)
        CHECK_ERRNO(close(fd), EBADF);
    CHECK(pipe(ends) == 0 && ends[0] == 3 && ends[1] == 4);
    CHECK(syscall(SYS_close_range, 3, 3, 0) == 0);
    CHECK_ERRNO(fcntl(3, F_GETFD), EBADF);
    CHECK(fcntl(4, F_GETFD) == 0);
    closefrom(3);
    CHECK_ERRNO(fcntl(4, F_GETFD), EBADF);
    sleep_ms(10);
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}
