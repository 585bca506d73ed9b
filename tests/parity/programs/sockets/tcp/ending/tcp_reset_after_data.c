// A reset comes behind the data that was sent before it: the receiver reads that, then meets the error.
#include "inet.h"

int main(void)
{
    struct linger at_once = {1, 0};
    struct sockaddr_in name;
    socklen_t size = sizeof name;
    char data[10];
    int ends[2];

    tcp_pair(ends);
    CHECK(setsockopt(ends[1], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    CHECK(send(ends[1], "words", 5, 0) == 5);
    CHECK(close(ends[1]) == 0);
    sleep_ms(10);
    CHECK_ERRNO(getpeername(ends[0], (struct sockaddr *)&name, &size), ENOTCONN);
    CHECK(recv(ends[0], data, 2, 0) == 2 && memcmp(data, "wo", 2) == 0);
    return succeed();
}
