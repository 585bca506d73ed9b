// A descriptor added to an epoll on which another thread already waits wakes that thread.
#include "check.h"

#include <pthread.h>
#include <sys/epoll.h>

static int epoll;

static void *waiter(void *unused)
{
    struct epoll_event event;

    CHECK(epoll_wait(epoll, &event, 1, 10000) == 1 && event.data.fd == 7777);
    return unused;
}

int main(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = 7777};
    pthread_t thread;
    int64_t start_ns = now_ns();
    int ends[2];

    epoll = epoll_create1(0);
    CHECK(epoll >= 0 && pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    CHECK(pthread_create(&thread, NULL, waiter, NULL) == 0);
    sleep_ms(30);
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}
