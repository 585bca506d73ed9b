// A program that polls without waiting until a moment has come gets there.
#include "check.h"

#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>

int main(void)
{
    struct epoll_event event;
    int epoll = epoll_create1(0);
    int64_t start_ns = now_ns();

    CHECK(epoll >= 0);
    while (now_ns() - start_ns < 1 * MS) {
        CHECK(poll(NULL, 0, 0) == 0);
        CHECK(epoll_wait(epoll, &event, 1, 0) == 0);
        CHECK(sched_yield() == 0);
    }
    CHECK_ELAPSED(start_ns, 1);
    return succeed();
}
