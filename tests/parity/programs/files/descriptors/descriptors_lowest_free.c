// New descriptors get the lowest free number, as if nothing else were open.
#include "check.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

int main(void)
{
    int ends[2];

    closefrom(3);
    CHECK(open("/dev/null", O_RDONLY) == 3);
    CHECK(socket(AF_INET, SOCK_STREAM, 0) == 4);
    CHECK(timerfd_create(CLOCK_MONOTONIC, 0) == 5);
    CHECK(epoll_create1(0) == 6);
    CHECK(close(4) == 0);
    CHECK(eventfd(0, 0) == 4);
    CHECK(pipe(ends) == 0 && ends[0] == 7 && ends[1] == 8);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && ends[0] == 9 && ends[1] == 10);
    CHECK(fcntl(3, F_DUPFD, 20) == 20);
    CHECK(fcntl(3, F_DUPFD_CLOEXEC, 20) == 21);
    sleep_ms(5);
    CHECK(open("/dev/null", O_RDONLY) == 11);
    return succeed();
}
