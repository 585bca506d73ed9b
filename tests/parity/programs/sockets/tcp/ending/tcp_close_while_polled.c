// A connection that another thread waits for in poll: the peer's close wakes it.
#include "inet.h"

#include <poll.h>
#include <pthread.h>

static int ends[2];

static void *closer(void *unused)
{
    sleep_ms(30);
    CHECK(close(ends[1]) == 0);
    return unused;
}

int main(void)
{
    struct pollfd polled;
    int64_t start_ns;
    pthread_t thread;

    tcp_pair(ends);
    start_ns = now_ns();
    polled = (struct pollfd){.fd = ends[0], .events = POLLIN};
    CHECK(pthread_create(&thread, NULL, closer, NULL) == 0);
    CHECK(poll(&polled, 1, -1) == 1 && polled.revents == POLLIN);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(pthread_join(thread, NULL) == 0);
    return succeed();
}
