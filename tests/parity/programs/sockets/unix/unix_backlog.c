// connect to a local socket waits while the backlog is full, until somebody accepts; non-blocking it says EAGAIN.
#include "unix.h"

int main(void)
{
    struct sockaddr_un name = unix_path("socket");
    int64_t start_ns = now_ns();
    int listener = unix_bound(SOCK_STREAM, "socket");
    int eager = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    pid_t child;

    CHECK(listen(listener, 0) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        unix_connected(SOCK_STREAM, "socket");
        sleep_ms(10);
        CHECK_ERRNO(connect(eager, (struct sockaddr *)&name, sizeof name), EAGAIN);
        unix_connected(SOCK_STREAM, "socket");
        CHECK_ELAPSED(start_ns, 40);
        _exit(0);
    }
    sleep_ms(40);
    CHECK(accept(listener, NULL, NULL) >= 0 && accept(listener, NULL, NULL) >= 0);
    CHECK_CHILD(child);
    return succeed();
}
