// A connection that is shut down both ways is still a socket: it has its name and type, reads an end, and closes.
#include "inet.h"

int main(void)
{
    int ends[2];
    int value = -1;
    socklen_t size = sizeof value;
    in_port_t port;
    char byte;

    tcp_pair(ends);
    port = port_of(ends[0]);
    CHECK(shutdown(ends[0], SHUT_RDWR) == 0);
    sleep_ms(5);
    CHECK(port_of(ends[0]) == port);
    CHECK(getsockopt(ends[0], SOL_SOCKET, SO_TYPE, &value, &size) == 0 && value == SOCK_STREAM);
    CHECK(getsockopt(ends[0], SOL_SOCKET, SO_ERROR, &value, &size) == 0 && value == 0);
    CHECK(read(ends[0], &byte, 1) == 0 && read(ends[1], &byte, 1) == 0);
    CHECK_ERRNO(send(ends[0], "x", 1, MSG_NOSIGNAL), EPIPE);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    return succeed();
}
