// SO_SNDTIMEO bounds a send to a peer that does not read: a part is sent, then EAGAIN.
#include "inet.h"

static char data[32 << 20];

int main(void)
{
    struct timeval limit = {.tv_usec = 40000};
    int64_t start_ns;
    ssize_t part, total = 0;
    int ends[2];

    tcp_pair(ends);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
    /* The kernel may find room for a little more each time. */
    do {
        start_ns = now_ns();
        part = send(ends[0], data, sizeof data, 0);
        CHECK(part < (ssize_t)sizeof data);
        CHECK_ELAPSED(start_ns, 40);
        total += part;
    } while (part > 0);
    CHECK(part == -1 && errno == EAGAIN);
    CHECK(total > 50000);
    return succeed();
}
