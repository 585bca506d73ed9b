// An edge is told once; level-triggered readiness as long as it lasts; a one-shot only until it is armed again.
#include "check.h"

#include <sys/epoll.h>

static int epoll, ends[2];

static void watch(int operation, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = 42};

    CHECK(epoll_ctl(epoll, operation, ends[0], &event) == 0);
}

static int waited(void)
{
    struct epoll_event event = {0};
    int count = epoll_wait(epoll, &event, 1, 10);

    CHECK(count == 0 || (event.data.u64 == 42 && event.events == EPOLLIN));
    return count;
}

int main(void)
{
    epoll = epoll_create1(0);
    CHECK(epoll >= 0 && pipe(ends) == 0);
    watch(EPOLL_CTL_ADD, EPOLLIN | EPOLLET);
    CHECK(waited() == 0);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(waited() == 1 && waited() == 0);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(waited() == 1 && waited() == 0);
    watch(EPOLL_CTL_MOD, EPOLLIN);
    CHECK(waited() == 1 && waited() == 1);
    watch(EPOLL_CTL_MOD, EPOLLIN | EPOLLONESHOT);
    CHECK(waited() == 1 && waited() == 0);
    watch(EPOLL_CTL_MOD, EPOLLIN | EPOLLONESHOT);
    CHECK(waited() == 1);
    return succeed();
}
