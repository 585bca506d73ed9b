// SO_SNDTIMEO bounds a send to a peer that does not read: a part is sent, then EAGAIN.
#include "inet.h"

static char data[32 << 20];

int main(void)
{
    struct timeval limit = {.tv_usec = 40000};
    int64_t start_ns;
    ssize_t part;
    int ends[2];

    tcp_pair(ends);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
    start_ns = now_ns();
    part = send(ends[0], data, sizeof data, 0);
    CHECK(part > 0 && part < (ssize_t)sizeof data);
    CHECK(now_ns() - start_ns >= 40 * MS);
    start_ns = now_ns();
    CHECK_ERRNO(send(ends[0], data, sizeof data, 0), EAGAIN);
    CHECK_ELAPSED(start_ns, 40);
    return succeed();
}
