// The port of a server that closes first stays in use for a minute, unless it had SO_REUSEADDR and so has who wants it; if the client
// closes first, or the server with a reset, it does not.
// virtual: 65
#include "inet.h"

static in_port_t port;

static int try_bind(int reuse)
{
    struct sockaddr_in name = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int result;

    CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) == 0);
    result = bind(fd, (struct sockaddr *)&name, sizeof name) == 0 ? 0 : errno;
    CHECK(close(fd) == 0);
    return result;
}

/* One connection, closed by this end first (0 the client, 1 the server). */
static void serve(int first, int linger, int reuse)
{
    struct linger at_once = {.l_onoff = linger, .l_linger = 0};
    int listener = listening_socket(1);
    int ends[2];
    char byte;

    port = port_of(listener);
    CHECK(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) == 0);
    ends[0] = connected_to(port);
    ends[1] = accept(listener, NULL, NULL);
    CHECK(setsockopt(ends[first], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    CHECK(close(ends[first]) == 0);
    CHECK(read(ends[!first], &byte, 1) <= 0 && close(ends[!first]) == 0 && close(listener) == 0);
    sleep_ms(10);
}

int main(void)
{
    serve(0, 0, 0);
    CHECK(try_bind(0) == 0);
    serve(1, 1, 0);
    CHECK(try_bind(0) == 0);
    serve(1, 0, 1);
    CHECK(try_bind(0) == EADDRINUSE && try_bind(1) == 0);
    serve(1, 0, 0);
    CHECK(try_bind(0) == EADDRINUSE && try_bind(1) == EADDRINUSE);
    sleep_ms(40000);
    CHECK(try_bind(0) == EADDRINUSE);
    sleep_ms(25000);
    CHECK(try_bind(0) == 0);
    return succeed();
}
