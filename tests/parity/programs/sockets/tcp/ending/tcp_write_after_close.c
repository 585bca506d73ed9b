// Writing to a peer that has closed: the first write passes, a later one fails with EPIPE or ECONNRESET.
#include "inet.h"

int main(void)
{
    int ends[2];
    int error;

    signal(SIGPIPE, SIG_IGN);
    tcp_pair(ends);
    CHECK(close(ends[1]) == 0);
    sleep_ms(5);
    CHECK(write(ends[0], "x", 1) == 1);
    sleep_ms(5);
    CHECK(write(ends[0], "x", 1) == -1);
    error = errno;
    CHECK(error == EPIPE || error == ECONNRESET);
    return succeed();
}
