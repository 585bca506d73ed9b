// A server that closes while the client's end has not come to it yet keeps its port in TIME_WAIT, though both close at one moment.
#include "inet.h"

static int is_free(in_port_t port)
{
    struct sockaddr_in name = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int result = bind(fd, (struct sockaddr *)&name, sizeof name);

    CHECK(result == 0 || errno == EADDRINUSE);
    CHECK(close(fd) == 0);
    return result == 0;
}

/* One connection, both of whose ends close, the server's first, so many milliseconds apart; is the port free then? */
static int is_free_after(int apart_ms)
{
    int listener = listening_socket(1);
    in_port_t port = port_of(listener);
    int client = connected_to(port);
    int server = accept(listener, NULL, NULL);

    CHECK(server >= 0 && close(server) == 0);
    if (apart_ms > 0)
        sleep_ms(apart_ms);
    CHECK(close(client) == 0 && close(listener) == 0);
    sleep_ms(50);
    return is_free(port);
}

int main(void)
{
    CHECK(!is_free_after(0));
    CHECK(!is_free_after(10));
    return succeed();
}
