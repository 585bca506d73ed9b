// A listener on 0.0.0.0 is reached through 127.0.0.1 and through 127.0.0.2, which is loopback too.
#include "inet.h"

int main(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET};
    struct sockaddr_in other = loopback(0);
    struct sockaddr_in local;
    socklen_t size = sizeof local;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int server;

    CHECK(bind(listener, (struct sockaddr *)&any, sizeof any) == 0 && listen(listener, 2) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&local, &size) == 0 && local.sin_addr.s_addr == INADDR_ANY);
    CHECK(close(connected_to(local.sin_port)) == 0 && close(accept(listener, NULL, NULL)) == 0);
    other.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    other.sin_port = local.sin_port;
    CHECK(connect(fd, (struct sockaddr *)&other, sizeof other) == 0);
    server = accept(listener, NULL, NULL);
    CHECK(getsockname(server, (struct sockaddr *)&local, &size) == 0);
    CHECK(local.sin_addr.s_addr == other.sin_addr.s_addr);
    return succeed();
}
