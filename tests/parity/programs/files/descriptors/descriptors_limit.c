// The limit on descriptors is sane, and opening goes on until EMFILE exactly there.
#include "check.h"

#include <sys/resource.h>

int main(void)
{
    struct rlimit limit, small;
    int64_t start_ns = now_ns();
    int last = -1, fd;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(limit.rlim_cur >= 256 && limit.rlim_cur <= limit.rlim_max && limit.rlim_cur <= 1 << 20);
    CHECK((rlim_t)sysconf(_SC_OPEN_MAX) == limit.rlim_cur);
    small = (struct rlimit){200, limit.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &small) == 0);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 200);
    while ((fd = open("/dev/null", O_RDONLY)) >= 0) {
        CHECK(fd > last);
        last = fd;
    }
    CHECK(errno == EMFILE && last == 199);
    CHECK_ERRNO(dup(0), EMFILE);
    CHECK_ERRNO(dup2(0, 200), EBADF);
    sleep_ms(10);
    CHECK_ELAPSED(start_ns, 10);
    CHECK(close(150) == 0 && dup(0) == 150);
    return succeed();
}
