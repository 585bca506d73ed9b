// SOCK_CLOEXEC closes a connection at exec and the peer sees its end; one without it lives on in the new image.
#include "inet.h"

int main(int count, char **arguments)
{
    int marked[2], kept[2];
    char text[20], byte;
    pid_t child;

    if (count == 2) {
        CHECK(write(atoi(arguments[1]), "y", 1) == 1);
        sleep_ms(20);
        return 0;
    }
    tcp_pair(marked);
    tcp_pair(kept);
    CHECK(fcntl(marked[0], F_SETFD, FD_CLOEXEC) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(marked[1]);
        close(kept[1]);
        snprintf(text, sizeof text, "%d", kept[0]);
        execl("/proc/self/exe", arguments[0], text, NULL);
        _exit(127);
    }
    CHECK(close(marked[0]) == 0 && close(kept[0]) == 0);
    CHECK(read(marked[1], &byte, 1) == 0);
    CHECK(read(kept[1], &byte, 1) == 1 && byte == 'y');
    CHECK(read(kept[1], &byte, 1) == 0);
    CHECK_CHILD(child);
    return succeed();
}
