// Of two hundred pipes, poll finds the one that gets ready.
#include "check.h"

#include <poll.h>

enum { PIPES = 200 };

int main(void)
{
    struct pollfd readers[PIPES];
    int writers[PIPES];
    char byte;
    pid_t child;

    for (int i = 0; i < PIPES; i++) {
        int ends[2];

        CHECK(pipe(ends) == 0);
        readers[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
        writers[i] = ends[1];
    }
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(write(writers[137], "x", 1) == 1);
        _exit(0);
    }
    CHECK(poll(readers, PIPES, 5000) == 1);
    for (int i = 0; i < PIPES; i++)
        CHECK(readers[i].revents == (i == 137 ? POLLIN : 0));
    CHECK(read(readers[137].fd, &byte, 1) == 1);
    CHECK_CHILD(child);
    return succeed();
}
