// Options of the stream are taken and told: no delay, keep-alive with its times, buffer sizes, reuse.
#include "inet.h"

static void set_and_check(int fd, int level, int option, int value, int at_least)
{
    int told = -1;
    socklen_t size = sizeof told;

    CHECK(setsockopt(fd, level, option, &value, sizeof value) == 0);
    CHECK(getsockopt(fd, level, option, &told, &size) == 0 && size == sizeof told);
    CHECK(at_least ? told >= value : told == value);
}

int main(void)
{
    int ends[2];

    tcp_pair(ends);
    set_and_check(ends[0], IPPROTO_TCP, TCP_NODELAY, 1, 0);
    set_and_check(ends[0], SOL_SOCKET, SO_KEEPALIVE, 1, 0);
    set_and_check(ends[0], IPPROTO_TCP, TCP_KEEPIDLE, 30, 0);
    set_and_check(ends[0], IPPROTO_TCP, TCP_KEEPINTVL, 5, 0);
    set_and_check(ends[0], IPPROTO_TCP, TCP_KEEPCNT, 3, 0);
    set_and_check(ends[0], SOL_SOCKET, SO_REUSEADDR, 1, 0);
    set_and_check(ends[0], SOL_SOCKET, SO_SNDBUF, 65536, 1);
    set_and_check(ends[0], SOL_SOCKET, SO_RCVBUF, 65536, 1);
    write_all(ends[0], "x", 1);
    return succeed();
}
