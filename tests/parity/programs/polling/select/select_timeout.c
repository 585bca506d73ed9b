// select waits for its timeout, writes back what is left of it, and tells which descriptors are ready.
// musl: no (musl does not tell what is left of a select)
#include "check.h"

#include <sys/select.h>

int main(void)
{
    struct timeval limit = {.tv_usec = 50000};
    int ends[2];
    int64_t start_ns = now_ns();
    fd_set readable, writable;

    CHECK(pipe(ends) == 0);
    FD_ZERO(&readable);
    FD_ZERO(&writable);
    FD_SET(ends[0], &readable);
    CHECK(select(ends[0] + 1, &readable, NULL, NULL, &limit) == 0);
    CHECK_ELAPSED(start_ns, 50);
    CHECK(!FD_ISSET(ends[0], &readable) && limit.tv_sec == 0 && limit.tv_usec == 0);
    CHECK(write(ends[1], "x", 1) == 1);
    FD_SET(ends[0], &readable);
    FD_SET(ends[1], &writable);
    limit = (struct timeval){.tv_sec = 5};
    CHECK(select(ends[1] + 1, &readable, &writable, NULL, &limit) == 2);
    CHECK(FD_ISSET(ends[0], &readable) && FD_ISSET(ends[1], &writable));
    CHECK(limit.tv_sec == 5 || (limit.tv_sec == 4 && limit.tv_usec > 400000));
    FD_SET(ends[1] + 9, &readable);
    CHECK_ERRNO(select(ends[1] + 10, &readable, NULL, NULL, &limit), EBADF);
    return succeed();
}
