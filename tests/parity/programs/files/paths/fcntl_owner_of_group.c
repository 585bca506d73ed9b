// A process group owns a descriptor as a negative number, however small the group's is: no error. And an error is one.
#include "check.h"

#include <sys/socket.h>

int main(void)
{
    int pair[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    CHECK(fcntl(pair[0], F_GETOWN) == 0);
    CHECK(fcntl(pair[0], F_SETOWN, getpid()) == 0);
    CHECK(fcntl(pair[0], F_GETOWN) == getpid());
    CHECK(setpgid(0, 0) == 0 || getpgrp() == getpid());
    CHECK(fcntl(pair[0], F_SETOWN, -getpgrp()) == 0);
    errno = 0;
    CHECK(fcntl(pair[0], F_GETOWN) == -getpgrp() && errno == 0);
    CHECK(fcntl(pair[0], F_SETOWN, -0x7000000) == -1 && errno == ESRCH);
    CHECK(fcntl(-1, F_GETOWN) == -1 && errno == EBADF);
    CHECK(fcntl(pair[0], 4711) == -1 && errno == EINVAL);
    return succeed();
}
