// preadv2 and pwritev2 without an offset wait on a pipe as read and write do; with RWF_NOWAIT they do not.
#include "check.h"

#include <sys/uio.h>

static char data[1 << 18];

int main(void)
{
    struct iovec some = {data, 10};
    struct iovec all = {data, sizeof data};
    int64_t start_ns = now_ns();
    size_t total = 0;
    int ends[2];
    pid_t child;

    CHECK(pipe(ends) == 0);
    CHECK_ERRNO(preadv2(ends[0], &some, 1, -1, RWF_NOWAIT), EAGAIN);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(close(ends[0]) == 0);
        sleep_ms(20);
        CHECK(pwritev2(ends[1], &some, 1, -1, 0) == 10);
        CHECK(pwritev2(ends[1], &all, 1, -1, 0) == sizeof data);
        _exit(0);
    }
    CHECK(close(ends[1]) == 0);
    CHECK(preadv2(ends[0], &some, 1, -1, 0) == 10);
    CHECK_ELAPSED(start_ns, 20);
    sleep_ms(10);
    for (ssize_t part; (part = read(ends[0], data, sizeof data)) > 0;)
        total += part;
    CHECK(total == sizeof data);
    CHECK_CHILD(child);
    return succeed();
}
