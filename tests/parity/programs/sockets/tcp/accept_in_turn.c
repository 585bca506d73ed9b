// Processes that wait in accept for one listener get the connections in turn: whoever has waited longest has the next one.
#include "inet.h"

#include <poll.h>
#include <sys/prctl.h>

enum { WORKERS = 4 };

static void serve(int listener, int served, char name)
{
    CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        CHECK(fd >= 0 && write(served, &name, 1) == 1 && close(fd) == 0);
    }
}

int main(void)
{
    int listener = listening_socket(WORKERS);
    in_port_t port = port_of(listener);
    pid_t workers[WORKERS];
    int served[2];

    CHECK(pipe(served) == 0);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = fork();
        CHECK(workers[i] >= 0);
        if (workers[i] == 0)
            serve(listener, served[1], (char)('a' + i));
        CHECK(poll(NULL, 0, 20) == 0); /* until it waits */
    }
    for (int i = 0; i < 3 * WORKERS; i++) {
        char name;
        int fd = connected_to(port);

        CHECK(read(served[0], &name, 1) == 1 && name == 'a' + i % WORKERS);
        CHECK(close(fd) == 0 && poll(NULL, 0, 10) == 0);
    }
    for (int i = 0; i < WORKERS; i++)
        CHECK(kill(workers[i], SIGKILL) == 0 && waitpid(workers[i], NULL, 0) == workers[i]);
    return succeed();
}
