// A stream over a pathname between two processes: accept waits, the bytes go both ways, the end is seen.
#include "unix.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int listener = unix_bound(SOCK_STREAM, "socket");
    char data[10];
    pid_t child;
    int fd;

    CHECK(listen(listener, 5) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        fd = unix_connected(SOCK_STREAM, "socket");
        CHECK(write(fd, "hello", 5) == 5);
        CHECK(read(fd, data, sizeof data) == 3);
        sleep_ms(20);
        _exit(0);
    }
    fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(read(fd, data, sizeof data) == 5 && write(fd, "bye", 3) == 3);
    CHECK(read(fd, data, sizeof data) == 0);
    CHECK_ELAPSED(start_ns, 40);
    CHECK_CHILD(child);
    return succeed();
}
