// A close with SO_LINGER of 0 resets the connection: a read fails with ECONNRESET, once.
#include "inet.h"

int main(void)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    int ends[2];
    char byte;

    signal(SIGPIPE, SIG_IGN);
    tcp_pair(ends);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    CHECK(close(ends[0]) == 0);
    sleep_ms(5);
    CHECK_ERRNO(read(ends[1], &byte, 1), ECONNRESET);
    CHECK(read(ends[1], &byte, 1) == 0);
    CHECK_ERRNO(write(ends[1], "x", 1), EPIPE);
    return succeed();
}
