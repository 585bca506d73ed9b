// listen takes its backlog as an unsigned number, at most net.core.somaxconn: -1 is as much as there may be. A backlog of N lets N + 1
// connections wait, of IPv4 and IPv6.
#include "inet.h"

#include <limits.h>
#include <poll.h>

enum { CLIENTS = 20 };

static int listener_of(int family, int backlog, struct sockaddr_storage *name, socklen_t *size)
{
    int fd = socket(family, SOCK_STREAM, 0);

    *size = sizeof *name;
    memset(name, 0, sizeof *name);
    name->ss_family = (sa_family_t)family;
    if (family == AF_INET)
        ((struct sockaddr_in *)name)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        ((struct sockaddr_in6 *)name)->sin6_addr = in6addr_loopback;
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)name, *size) == 0 && listen(fd, backlog) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)name, size) == 0);
    return fd;
}

/* Of CLIENTS that connect at once, how many are connected before the first SYN is sent again? */
static int connected(int family, int backlog)
{
    struct sockaddr_storage name;
    socklen_t size;
    int listener = listener_of(family, backlog, &name, &size);
    struct pollfd clients[CLIENTS];
    int count = 0;

    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct pollfd){socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0), POLLOUT, 0};
        CHECK(connect(clients[i].fd, (struct sockaddr *)&name, size) == 0 || errno == EINPROGRESS);
    }
    sleep_ms(100);
    CHECK(poll(clients, CLIENTS, 0) >= 0);
    for (int i = 0; i < CLIENTS; i++) {
        count += clients[i].revents == POLLOUT;
        CHECK(close(clients[i].fd) == 0);
    }
    CHECK(close(listener) == 0);
    return count;
}

static void check_family(int family)
{
    CHECK(connected(family, 0) == 1);
    CHECK(connected(family, 1) == 2);
    CHECK(connected(family, 7) == 8);
    CHECK(connected(family, -1) == CLIENTS);
    CHECK(connected(family, INT_MIN) == CLIENTS);
    CHECK(connected(family, INT_MAX) == CLIENTS);
}

int main(void)
{
    check_family(AF_INET);
    check_family(AF_INET6);
    return succeed();
}
