// accept waits until somebody connects; connect does not wait for accept, only for the backlog.
#include "inet.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int listener = listening_socket(5);
    in_port_t port = port_of(listener);
    char byte;
    pid_t child = fork();
    int fd;

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(30);
        fd = connected_to(port);
        CHECK(read(fd, &byte, 1) == 1);
        CHECK_ELAPSED(start_ns, 50);
        _exit(0);
    }
    fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0);
    CHECK_ELAPSED(start_ns, 30);
    sleep_ms(20);
    CHECK(write(fd, "x", 1) == 1);
    CHECK_CHILD(child);
    return succeed();
}
