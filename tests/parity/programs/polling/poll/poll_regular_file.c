// A regular file is always ready, whatever else is polled; epoll does not take it.
#include "check.h"

#include <poll.h>
#include <sys/epoll.h>

int main(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct pollfd polled[2];
    int64_t start_ns = now_ns();
    int ends[2];
    int file = open("file", O_CREAT | O_RDWR, 0600);

    CHECK(file >= 0 && pipe(ends) == 0);
    polled[0] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    polled[1] = (struct pollfd){.fd = file, .events = POLLIN | POLLOUT};
    CHECK(poll(polled, 2, -1) == 1 && polled[1].revents == (POLLIN | POLLOUT));
    polled[1].events = 0;
    CHECK(poll(polled, 2, 20) == 0);
    CHECK_ELAPSED(start_ns, 20);
    CHECK_ERRNO(epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, file, &event), EPERM);
    return succeed();
}
