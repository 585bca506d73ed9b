// A close that leaves data unread resets the connection.
#include "inet.h"

#include <poll.h>

int main(void)
{
    struct pollfd polled;
    int ends[2];
    char byte;

    tcp_pair(ends);
    write_all(ends[1], "unread", 6);
    polled = (struct pollfd){.fd = ends[0], .events = POLLIN};
    CHECK(poll(&polled, 1, 5000) == 1);
    CHECK(close(ends[0]) == 0);
    sleep_ms(5);
    CHECK_ERRNO(read(ends[1], &byte, 1), ECONNRESET);
    return succeed();
}
