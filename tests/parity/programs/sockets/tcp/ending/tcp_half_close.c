// After shutdown of the writing side the peer reads an end, and can still answer.
#include "inet.h"

#include <poll.h>

int main(void)
{
    struct pollfd polled;
    int ends[2];
    char data[10];

    tcp_pair(ends);
    write_all(ends[0], "question", 8);
    CHECK(shutdown(ends[0], SHUT_WR) == 0);
    read_all(ends[1], data, 8);
    CHECK(read(ends[1], data, 1) == 0 && read(ends[1], data, 1) == 0);
    polled = (struct pollfd){.fd = ends[1], .events = POLLIN | POLLRDHUP};
    CHECK(poll(&polled, 1, 5000) == 1 && polled.revents == (POLLIN | POLLRDHUP));
    write_all(ends[1], "answer", 6);
    read_all(ends[0], data, 6);
    CHECK(memcmp(data, "answer", 6) == 0);
    signal(SIGPIPE, SIG_IGN);
    CHECK_ERRNO(write(ends[0], "x", 1), EPIPE);
    CHECK_ERRNO(send(ends[0], "x", 1, MSG_NOSIGNAL), EPIPE);
    CHECK(shutdown(ends[1], SHUT_RDWR) == 0);
    CHECK(read(ends[0], data, 1) == 0);
    return succeed();
}
