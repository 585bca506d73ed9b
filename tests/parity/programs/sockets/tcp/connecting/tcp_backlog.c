// Connections made before anybody accepts wait in the backlog, keep their data and their order.
#include "inet.h"

enum { CLIENTS = 8 };

int main(void)
{
    int listener = listening_socket(CLIENTS);
    in_port_t port = port_of(listener);
    int clients[CLIENTS];
    char byte;

    for (char i = 0; i < CLIENTS; i++) {
        clients[(int)i] = connected_to(port);
        CHECK(write(clients[(int)i], &i, 1) == 1);
    }
    CHECK(close(clients[3]) == 0);
    for (char i = 0; i < CLIENTS; i++) {
        int fd = accept(listener, NULL, NULL);

        CHECK(fd >= 0 && read(fd, &byte, 1) == 1 && byte == i);
        if (i == 3)
            CHECK(read(fd, &byte, 1) == 0);
    }
    CHECK(fcntl(listener, F_SETFL, O_NONBLOCK) == 0);
    CHECK_ERRNO(accept(listener, NULL, NULL), EAGAIN);
    return succeed();
}
