// Each waiting call on descriptors, with nothing to wait for, returns 0 after exactly its timeout.
// virtual: 10
#include "check.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

int main(void)
{
    struct timespec two = {.tv_sec = 2};
    struct timeval same = {.tv_sec = 2};
    struct epoll_event event;
    struct pollfd quiet;
    int epoll = epoll_create1(0);
    int ends[2];
    int64_t start_ns = now_ns();
    fd_set set;

    CHECK(epoll >= 0 && pipe(ends) == 0);
    quiet = (struct pollfd){.fd = ends[0], .events = POLLIN};
    event = (struct epoll_event){.events = EPOLLIN};
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
    CHECK(poll(&quiet, 1, 2000) == 0);
    CHECK_ELAPSED(start_ns, 2000);
    CHECK(ppoll(&quiet, 1, &two, NULL) == 0);
    CHECK_ELAPSED(start_ns, 4000);
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    CHECK(select(ends[0] + 1, &set, NULL, NULL, &same) == 0 && !FD_ISSET(ends[0], &set));
    CHECK_ELAPSED(start_ns, 6000);
    FD_SET(ends[0], &set);
    CHECK(pselect(ends[0] + 1, &set, NULL, NULL, &two, NULL) == 0);
    CHECK_ELAPSED(start_ns, 8000);
    CHECK(epoll_wait(epoll, &event, 1, 2000) == 0);
    CHECK_ELAPSED(start_ns, 10000);
    return succeed();
}
