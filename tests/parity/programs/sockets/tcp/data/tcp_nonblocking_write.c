// A non-blocking writer is told EAGAIN when the peer does not read, and is writable again after it did.
#include "inet.h"

#include <poll.h>

static char data[1 << 16];

int main(void)
{
    struct pollfd polled;
    size_t sent = 0, received = 0;
    ssize_t part;
    int ends[2];

    tcp_pair(ends);
    CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    polled = (struct pollfd){.fd = ends[0], .events = POLLOUT};
    CHECK(poll(&polled, 1, 0) == 1);
    /* What is on the way frees room a little later: full is what stays full. */
    while (poll(&polled, 1, 10) == 1) {
        while ((part = send(ends[0], data, sizeof data, 0)) > 0)
            sent += part;
        CHECK(part == -1 && errno == EAGAIN);
        CHECK(sent < 100u << 20);
    }
    CHECK(sent > 50000);
    CHECK(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
    while (received < sent) {
        struct pollfd readable = {.fd = ends[1], .events = POLLIN};

        CHECK(poll(&readable, 1, 5000) == 1);
        part = recv(ends[1], data, sizeof data, 0);
        CHECK(part > 0);
        received += part;
    }
    CHECK(received == sent);
    CHECK(poll(&polled, 1, 5000) == 1 && polled.revents == POLLOUT);
    CHECK_ERRNO(recv(ends[1], data, 1, 0), EAGAIN);
    return succeed();
}
