// A reset is told by poll as POLLERR and POLLHUP beside POLLIN, and by SO_ERROR.
#include "inet.h"

#include <poll.h>

int main(void)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    struct pollfd polled;
    int error = 0;
    socklen_t size = sizeof error;
    int ends[2];

    tcp_pair(ends);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    CHECK(close(ends[0]) == 0);
    polled = (struct pollfd){.fd = ends[1], .events = POLLIN};
    CHECK(poll(&polled, 1, 5000) == 1 && polled.revents == (POLLIN | POLLERR | POLLHUP));
    CHECK(getsockopt(ends[1], SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == ECONNRESET);
    return succeed();
}
