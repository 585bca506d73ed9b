// getsockname and getpeername of both ends agree; accept and getsockopt tell the same; a free socket has no peer.
#include "inet.h"

static struct sockaddr_in name_of(int fd, int (*ask)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_in name = {0};
    socklen_t size = sizeof name;

    CHECK(ask(fd, (struct sockaddr *)&name, &size) == 0 && size == sizeof name && name.sin_family == AF_INET);
    return name;
}

static int same(struct sockaddr_in one, struct sockaddr_in other)
{
    return one.sin_port == other.sin_port && one.sin_addr.s_addr == other.sin_addr.s_addr;
}

int main(void)
{
    struct sockaddr_in caller;
    socklen_t size = sizeof caller;
    int listener = listening_socket(1);
    int client = connected_to(port_of(listener));
    int server = accept(listener, (struct sockaddr *)&caller, &size);
    int value;

    CHECK(server >= 0 && size == sizeof caller && caller.sin_family == AF_INET);
    CHECK(same(caller, name_of(client, getsockname)));
    CHECK(same(caller, name_of(server, getpeername)));
    CHECK(same(name_of(client, getpeername), name_of(listener, getsockname)));
    CHECK(same(name_of(server, getsockname), name_of(listener, getsockname)));
    CHECK(ntohl(caller.sin_addr.s_addr) == INADDR_LOOPBACK && caller.sin_port != 0);
    size = sizeof caller;
    CHECK_ERRNO(getpeername(listener, (struct sockaddr *)&caller, &size), ENOTCONN);
    size = sizeof value;
    CHECK(getsockopt(listener, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value == 1);
    CHECK(getsockopt(client, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value == 0);
    CHECK(getsockopt(client, SOL_SOCKET, SO_DOMAIN, &value, &size) == 0 && value == AF_INET);
    CHECK(getsockopt(client, SOL_SOCKET, SO_TYPE, &value, &size) == 0 && value == SOCK_STREAM);
    CHECK(getsockopt(client, SOL_SOCKET, SO_PROTOCOL, &value, &size) == 0 && value == IPPROTO_TCP);
    return succeed();
}
