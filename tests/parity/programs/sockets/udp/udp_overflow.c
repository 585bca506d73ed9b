// What comes in while a datagram socket's buffer is full is lost; a larger buffer (SO_RCVBUF) holds more.
#include "inet.h"

static int kept(int buffer_size)
{
    int to = bound_socket(SOCK_DGRAM);
    int from = bound_socket(SOCK_DGRAM);
    struct sockaddr_in name = loopback(port_of(to));
    char data[1000] = "";
    int count = 0;

    CHECK(setsockopt(to, SOL_SOCKET, SO_RCVBUF, &buffer_size, sizeof buffer_size) == 0);
    for (int i = 0; i < 200; i++) {
        memcpy(data, &i, sizeof i);
        CHECK(sendto(from, data, sizeof data, 0, (struct sockaddr *)&name, sizeof name) == sizeof data);
    }
    sleep_ms(20);
    while (recv(to, data, sizeof data, MSG_DONTWAIT) == sizeof data)
        CHECK(memcmp(data, &count, sizeof count) == 0 && ++count > 0); /* the first ones, in order */
    CHECK(close(to) == 0 && close(from) == 0);
    return count;
}

int main(void)
{
    int few = kept(8192);
    int more = kept(65536);

    CHECK(few > 0 && few < more && more < 200);
    return succeed();
}
