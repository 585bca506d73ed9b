// An epoll inside an epoll, the outer one polled: readiness comes through both.
#include "check.h"

#include <poll.h>
#include <sys/epoll.h>

int main(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct pollfd polled;
    int outer = epoll_create1(0);
    int inner = epoll_create1(0);
    int64_t start_ns = now_ns();
    int ends[2];
    pid_t child;

    CHECK(outer >= 0 && inner >= 0 && pipe(ends) == 0);
    CHECK(epoll_ctl(inner, EPOLL_CTL_ADD, ends[0], &event) == 0);
    CHECK(epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event) == 0);
    polled = (struct pollfd){.fd = outer, .events = POLLIN};
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(30);
        _exit(write(ends[1], "x", 1) != 1);
    }
    CHECK(poll(&polled, 1, 5000) == 1 && polled.revents == POLLIN);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(epoll_wait(outer, &event, 1, 0) == 1);
    CHECK_CHILD(child);
    return succeed();
}
