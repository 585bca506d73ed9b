// Daemons listen on 0.0.0.0 and on :: with IPV6_V6ONLY at one port: they do not clash, and each gets its own clients.
#include "inet.h"

static int listener_v6(in_port_t port, int only)
{
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_port = port};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);

    CHECK(fd >= 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only) == 0);
    if (bind(fd, (struct sockaddr *)&name, sizeof name) == 0)
        return fd;
    CHECK(errno == EADDRINUSE && close(fd) == 0);
    return -1;
}

static void check_accepted(int listener, int family)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    int fd = accept(listener, (struct sockaddr *)&peer, &size);

    CHECK(fd >= 0 && peer.ss_family == family && close(fd) == 0);
}

int main(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET};
    struct sockaddr_in6 loopback_v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int v4 = socket(AF_INET, SOCK_STREAM, 0);
    int client = socket(AF_INET6, SOCK_STREAM, 0);
    int v6;

    CHECK(bind(v4, (struct sockaddr *)&any, sizeof any) == 0 && listen(v4, 4) == 0);
    CHECK(listener_v6(port_of(v4), 0) == -1); /* one that takes IPv4 too would clash */
    v6 = listener_v6(port_of(v4), 1);
    CHECK(v6 >= 0 && listen(v6, 4) == 0);
    loopback_v6.sin6_port = port_of(v4);
    CHECK(connect(client, (struct sockaddr *)&loopback_v6, sizeof loopback_v6) == 0);
    check_accepted(v6, AF_INET6);
    connected_to(port_of(v4));
    check_accepted(v4, AF_INET);
    CHECK(close(v4) == 0);
    CHECK(listener_v6(loopback_v6.sin6_port, 1) == -1); /* the other :: is still there */
    return succeed();
}
