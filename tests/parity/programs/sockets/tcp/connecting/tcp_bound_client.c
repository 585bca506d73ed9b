// A client that binds its own port first is seen with that port.
#include "inet.h"

int main(void)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    int listener = listening_socket(1);
    int client = bound_socket(SOCK_STREAM);
    struct sockaddr_in name = loopback(port_of(listener));
    in_port_t port = port_of(client);

    CHECK(connect(client, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(accept(listener, (struct sockaddr *)&peer, &size) >= 0);
    CHECK(peer.sin_port == port && port_of(client) == port);
    CHECK_ERRNO(connect(client, (struct sockaddr *)&name, sizeof name), EISCONN);
    return succeed();
}
