// A close with SO_LINGER of 0, or with unread data, resets the connection: the peer gets ECONNRESET once.
#include "inet.h"

#include <poll.h>

int main(void)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    struct pollfd polled;
    int ends[2];
    char byte;

    signal(SIGPIPE, SIG_IGN);
    tcp_pair(ends);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    CHECK(close(ends[0]) == 0);
    polled = (struct pollfd){.fd = ends[1], .events = POLLIN};
    CHECK(poll(&polled, 1, 5000) == 1 && (polled.revents & POLLERR) && (polled.revents & POLLIN));
    CHECK_ERRNO(read(ends[1], &byte, 1), ECONNRESET);
    CHECK(read(ends[1], &byte, 1) == 0);
    CHECK_ERRNO(write(ends[1], "x", 1), EPIPE);
    tcp_pair(ends);
    write_all(ends[1], "unread", 6);
    polled = (struct pollfd){.fd = ends[0], .events = POLLIN};
    CHECK(poll(&polled, 1, 5000) == 1);
    CHECK(close(ends[0]) == 0);
    CHECK_ERRNO(read(ends[1], &byte, 1), ECONNRESET);
    return succeed();
}
