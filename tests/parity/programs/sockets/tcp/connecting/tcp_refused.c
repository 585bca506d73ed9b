// Connecting to a port where nobody listens is refused, also once a listener has gone.
#include "inet.h"

static int refused(in_port_t port)
{
    struct sockaddr_in name = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int result = connect(fd, (struct sockaddr *)&name, sizeof name);

    CHECK(result == 0 || errno == ECONNREFUSED);
    CHECK(close(fd) == 0);
    return result != 0;
}

int main(void)
{
    int listener = bound_socket(SOCK_STREAM);
    in_port_t port = port_of(listener);

    CHECK(refused(port));
    CHECK(listen(listener, 1) == 0);
    CHECK(!refused(port));
    CHECK(close(listener) == 0);
    CHECK(refused(port));
    return succeed();
}
