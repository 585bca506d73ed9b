// Connecting to a path without a listener: refused where a socket once was, not found where nothing is.
#include "unix.h"

int main(void)
{
    struct sockaddr_un name = unix_path("socket");
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    int listener;

    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), ENOENT);
    listener = unix_bound(SOCK_STREAM, "socket");
    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), ECONNREFUSED);
    CHECK(listen(listener, 1) == 0);
    CHECK(connect(fd, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(close(listener) == 0);
    close(fd);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), ECONNREFUSED);
    CHECK_ERRNO(bind(fd, (struct sockaddr *)&name, sizeof name), EADDRINUSE);
    return succeed();
}
