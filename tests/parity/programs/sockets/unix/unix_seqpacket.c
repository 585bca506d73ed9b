// Sequenced packets keep boundaries on a connection, and its end is seen.
#include "unix.h"

int main(void)
{
    int listener = unix_bound(SOCK_SEQPACKET, "socket");
    char data[10];
    int client, server;

    CHECK(listen(listener, 1) == 0);
    client = unix_connected(SOCK_SEQPACKET, "socket");
    server = accept(listener, NULL, NULL);
    CHECK(server >= 0);
    CHECK(send(client, "abc", 3, 0) == 3 && send(client, "defgh", 5, 0) == 5);
    CHECK(recv(server, data, sizeof data, 0) == 3 && recv(server, data, 2, 0) == 2);
    CHECK_ERRNO(recv(server, data, sizeof data, MSG_DONTWAIT), EAGAIN);
    CHECK(close(client) == 0);
    CHECK(recv(server, data, sizeof data, 0) == 0);
    return succeed();
}
