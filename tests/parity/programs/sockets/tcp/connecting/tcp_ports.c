// Port 0 gives distinct free ports; a taken one is EADDRINUSE until its owner has gone.
#include "inet.h"

int main(void)
{
    int one = listening_socket(1);
    int two = listening_socket(1);
    struct sockaddr_in name = loopback(port_of(one));
    int three = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1;

    CHECK(port_of(one) != port_of(two));
    CHECK(ntohs(port_of(one)) >= 1024);
    CHECK_ERRNO(bind(three, (struct sockaddr *)&name, sizeof name), EADDRINUSE);
    name.sin_addr.s_addr = htonl(INADDR_ANY);
    CHECK_ERRNO(bind(three, (struct sockaddr *)&name, sizeof name), EADDRINUSE);
    CHECK(setsockopt(three, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
    CHECK_ERRNO(bind(three, (struct sockaddr *)&name, sizeof name), EADDRINUSE);
    CHECK(close(one) == 0);
    CHECK(bind(three, (struct sockaddr *)&name, sizeof name) == 0 && listen(three, 1) == 0);
    CHECK_ERRNO(bind(three, (struct sockaddr *)&name, sizeof name), EINVAL);
    close(connected_to(name.sin_port));
    return succeed();
}
