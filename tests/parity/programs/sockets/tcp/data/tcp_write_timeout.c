// SO_SNDTIMEO bounds write and writev as well as send.
#include "inet.h"

#include <sys/uio.h>

static char data[32 << 20];

int main(void)
{
    struct timeval limit = {.tv_usec = 40000};
    struct iovec whole = {data, sizeof data};
    int64_t start_ns;
    int ends[2];

    tcp_pair(ends);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
    start_ns = now_ns();
    CHECK(write(ends[0], data, sizeof data) < (ssize_t)sizeof data);
    CHECK(now_ns() - start_ns >= 40 * MS);
    start_ns = now_ns();
    CHECK(writev(ends[0], &whole, 1) < (ssize_t)sizeof data);
    CHECK_ELAPSED(start_ns, 40);
    return succeed();
}
