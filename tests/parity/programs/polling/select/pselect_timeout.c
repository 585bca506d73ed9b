// pselect waits for its timeout and leaves the timeout as it was.
#include "check.h"

#include <sys/select.h>

int main(void)
{
    struct timespec limit = {.tv_nsec = 50 * MS};
    int ends[2];
    int64_t start_ns = now_ns();
    fd_set readable;

    CHECK(pipe(ends) == 0);
    FD_ZERO(&readable);
    FD_SET(ends[0], &readable);
    CHECK(pselect(ends[0] + 1, &readable, NULL, NULL, &limit, NULL) == 0);
    CHECK_ELAPSED(start_ns, 50);
    CHECK(limit.tv_sec == 0 && limit.tv_nsec == 50 * MS);
    return succeed();
}
