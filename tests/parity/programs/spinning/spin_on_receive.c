// A tight loop of recv with MSG_DONTWAIT on a connection ends when the peer sends, 2 ms later.
#include "inet.h"

int main(void)
{
    int64_t start_ns;
    int ends[2];
    char byte;
    pid_t child;

    tcp_pair(ends);
    start_ns = now_ns();
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(2);
        _exit(send(ends[1], "x", 1, 0) != 1);
    }
    while (recv(ends[0], &byte, 1, MSG_DONTWAIT) != 1)
        CHECK(errno == EAGAIN);
    CHECK_ELAPSED(start_ns, 2);
    CHECK_CHILD(child);
    return succeed();
}
