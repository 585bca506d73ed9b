// EPOLLEXCLUSIVE in epoll instances of several processes: a connection to a shared listener wakes one of those that wait, also
// if it takes its time to accept; the next connection wakes another one; two that come at once wake two.
#include "inet.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

enum { WORKERS = 4, ACCEPT_AFTER_MS = 200 };

/* Tell of each wake-up, and accept a while later. */
static void serve(int listener, int woken)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE};
    int epoll = epoll_create1(0);

    CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    CHECK(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) == 0);
    CHECK(write(woken, "r", 1) == 1);
    for (;;) {
        CHECK(epoll_wait(epoll, &event, 1, -1) == 1);
        CHECK(write(woken, "w", 1) == 1);
        CHECK(poll(NULL, 0, ACCEPT_AFTER_MS) == 0);
        close(accept(listener, NULL, NULL));
    }
}

/* How many wake-ups are told of within so many milliseconds. */
static int wakes(int woken, int milliseconds)
{
    char bytes[64];
    ssize_t size;

    CHECK(poll(NULL, 0, milliseconds) == 0);
    size = read(woken, bytes, sizeof bytes);
    return size < 0 ? 0 : (int)size;
}

int main(void)
{
    int listener = listening_socket(WORKERS);
    in_port_t port = port_of(listener);
    pid_t workers[WORKERS];
    int woken[2];
    char byte;

    CHECK(pipe(woken) == 0 && fcntl(listener, F_SETFL, O_NONBLOCK) == 0);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = fork();
        CHECK(workers[i] >= 0);
        if (workers[i] == 0)
            serve(listener, woken[1]);
        CHECK(read(woken[0], &byte, 1) == 1);
    }
    CHECK(fcntl(woken[0], F_SETFL, O_NONBLOCK) == 0 && wakes(woken[0], 20) == 0);

    connected_to(port);
    CHECK(wakes(woken[0], 50) == 1);
    connected_to(port); /* the first has not accepted yet */
    CHECK(wakes(woken[0], 50) == 1);
    CHECK(wakes(woken[0], 500) == 1); /* the first has accepted, and found the second's connection still there */
    connected_to(port);
    connected_to(port);
    CHECK(wakes(woken[0], 50) == 2);

    for (int i = 0; i < WORKERS; i++)
        CHECK(kill(workers[i], SIGKILL) == 0 && waitpid(workers[i], NULL, 0) == workers[i]);
    return succeed();
}
