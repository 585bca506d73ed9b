// A socket pair between parent and child: blocking both ways, options and names of its family, SO_RCVTIMEO.
#include "unix.h"

int main(void)
{
    struct timeval limit = {.tv_usec = 30000};
    int64_t start_ns = now_ns();
    int ends[2];
    char data[10];
    int value = -1;
    socklen_t size = sizeof value;
    pid_t child;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    CHECK(getsockopt(ends[0], SOL_SOCKET, SO_DOMAIN, &value, &size) == 0 && value == AF_UNIX);
    CHECK(fcntl(ends[1], F_GETFD) == FD_CLOEXEC);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(close(ends[0]) == 0);
        CHECK(read(ends[1], data, sizeof data) == 4);
        sleep_ms(20);
        _exit(write(ends[1], data, 2) != 2);
    }
    CHECK(close(ends[1]) == 0 && write(ends[0], "ping", 4) == 4);
    CHECK(read(ends[0], data, sizeof data) == 2 && read(ends[0], data, sizeof data) == 0);
    CHECK_ELAPSED(start_ns, 20);
    CHECK_CHILD(child);
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK_ERRNO(recv(ends[0], data, 1, 0), EAGAIN);
    CHECK_ELAPSED(start_ns, 50);
    return succeed();
}
