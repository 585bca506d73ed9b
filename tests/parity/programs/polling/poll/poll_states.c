// poll tells readable, writable, hung up, broken and not open apart.
#include "check.h"

#include <poll.h>

int main(void)
{
    struct pollfd polled[3];
    int ends[2];

    CHECK(pipe(ends) == 0);
    polled[0] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    polled[1] = (struct pollfd){.fd = ends[1], .events = POLLOUT};
    polled[2] = (struct pollfd){.fd = -1, .events = POLLIN};
    CHECK(poll(polled, 3, -1) == 1);
    CHECK(polled[0].revents == 0 && polled[1].revents == POLLOUT && polled[2].revents == 0);
    polled[2].fd = 900;
    CHECK(poll(polled, 3, -1) == 2 && polled[2].revents == POLLNVAL);
    CHECK(close(ends[1]) == 0);
    CHECK(poll(polled, 1, -1) == 1 && polled[0].revents == POLLHUP);
    CHECK(pipe(ends) == 0 && close(ends[0]) == 0);
    polled[0] = (struct pollfd){.fd = ends[1], .events = POLLOUT};
    CHECK(poll(polled, 1, -1) == 1 && (polled[0].revents & POLLERR));
    return succeed();
}
