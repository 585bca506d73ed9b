// When the process at the other end is killed, a waiting reader sees the end of the stream.
#include "inet.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int listener = listening_socket(1);
    in_port_t port = port_of(listener);
    char byte;
    pid_t child = fork();
    int fd;

    CHECK(child >= 0);
    if (child == 0) {
        fd = connected_to(port);
        sleep_ms(30);
        CHECK(kill(getpid(), SIGKILL) == 0 && fd >= 0);
    }
    fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0 && read(fd, &byte, 1) == 0);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(waitpid(child, NULL, 0) == child);
    return succeed();
}
