// SO_RCVTIMEO bounds recv and accept; the option can be read back.
#include "inet.h"

int main(void)
{
    struct timeval limit = {.tv_usec = 40000};
    struct timeval told;
    socklen_t size = sizeof told;
    int64_t start_ns;
    int ends[2];
    char byte;
    int listener = listening_socket(1);

    tcp_pair(ends);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK(getsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &told, &size) == 0);
    CHECK(told.tv_sec == 0 && told.tv_usec == 40000);
    start_ns = now_ns();
    CHECK_ERRNO(recv(ends[0], &byte, 1, 0), EAGAIN);
    CHECK_ELAPSED(start_ns, 40);
    CHECK_ERRNO(read(ends[0], &byte, 1), EAGAIN);
    CHECK_ELAPSED(start_ns, 80);
    CHECK_ERRNO(accept(listener, NULL, NULL), EAGAIN);
    CHECK_ELAPSED(start_ns, 120);
    return succeed();
}
