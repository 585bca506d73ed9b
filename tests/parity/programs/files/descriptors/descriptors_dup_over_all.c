// dup2 onto every number up to the limit overwrites nothing that the program needs to wait.
// musl: no (musl's system needs two descriptors more)
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int limit = sysconf(_SC_OPEN_MAX) < 1024 ? sysconf(_SC_OPEN_MAX) : 1024;
    int null = open("/dev/null", O_RDWR);

    CHECK(null == 3 || null > 3);
    for (int fd = 3; fd < limit; fd++)
        CHECK(dup2(null, fd) == fd && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0); /* the shell needs room for its libraries */
    sleep_ms(20);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(system("exit 3") == 3 << 8);
    for (int fd = 3; fd < limit; fd++)
        CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC && close(fd) == 0);
    sleep_ms(20);
    CHECK(now_ns() - start_ns >= 40 * MS);
    return succeed();
}
