// The same over ::1, and an IPv4 client on a socket that takes both.
#include "inet.h"

int main(void)
{
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in6 peer;
    socklen_t size = sizeof name;
    int listener = socket(AF_INET6, SOCK_STREAM, 0);
    int client = socket(AF_INET6, SOCK_STREAM, 0);
    int off = 0;
    int server;

    CHECK(listener >= 0 && bind(listener, (struct sockaddr *)&name, size) == 0 && listen(listener, 2) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&name, &size) == 0 && size == sizeof name && name.sin6_port);
    CHECK(connect(client, (struct sockaddr *)&name, sizeof name) == 0);
    server = accept(listener, (struct sockaddr *)&peer, &size);
    CHECK(server >= 0 && size == sizeof peer && IN6_IS_ADDR_LOOPBACK(&peer.sin6_addr));
    write_all(client, "x", 1);
    read_all(server, (char *)&peer, 1);
    CHECK(close(listener) == 0);
    listener = socket(AF_INET6, SOCK_STREAM, 0);
    CHECK(setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0);
    name = (struct sockaddr_in6){.sin6_family = AF_INET6};
    CHECK(bind(listener, (struct sockaddr *)&name, sizeof name) == 0 && listen(listener, 2) == 0);
    size = sizeof name;
    CHECK(getsockname(listener, (struct sockaddr *)&name, &size) == 0);
    connected_to(name.sin6_port);
    size = sizeof peer;
    CHECK(accept(listener, (struct sockaddr *)&peer, &size) >= 0 && IN6_IS_ADDR_V4MAPPED(&peer.sin6_addr));
    return succeed();
}
