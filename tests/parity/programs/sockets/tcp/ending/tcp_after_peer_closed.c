// The names of a connection can still be asked for after its peer has closed, and what it sent is still read.
#include "inet.h"

int main(void)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    in_port_t port;
    int ends[2];
    char data[10];

    tcp_pair(ends);
    port = port_of(ends[1]);
    write_all(ends[1], "last words", 10);
    CHECK(close(ends[1]) == 0);
    sleep_ms(5);
    CHECK(getpeername(ends[0], (struct sockaddr *)&peer, &size) == 0 && peer.sin_port == port);
    CHECK(port_of(ends[0]) != 0);
    read_all(ends[0], data, 10);
    CHECK(memcmp(data, "last words", 10) == 0 && read(ends[0], data, 1) == 0);
    return succeed();
}
