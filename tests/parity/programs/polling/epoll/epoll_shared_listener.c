// Two workers with an epoll each on one inherited listener, EPOLLEXCLUSIVE: every connection is served once.
#include "inet.h"

#include <sys/epoll.h>

enum { CONNECTIONS = 6 };

static void serve(int listener)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE};
    int epoll = epoll_create1(0);

    CHECK(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) == 0);
    for (;;) {
        int fd;

        CHECK(epoll_wait(epoll, &event, 1, -1) == 1);
        fd = accept(listener, NULL, NULL);
        if (fd >= 0)
            CHECK(write(fd, "x", 1) == 1 && close(fd) == 0);
        else
            CHECK(errno == EAGAIN);
    }
}

int main(void)
{
    int listener = listening_socket(CONNECTIONS);
    in_port_t port = port_of(listener);
    pid_t workers[2];
    char byte;

    CHECK(fcntl(listener, F_SETFL, O_NONBLOCK) == 0);
    for (int i = 0; i < 2; i++) {
        workers[i] = fork();
        CHECK(workers[i] >= 0);
        if (workers[i] == 0)
            serve(listener);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        int fd = connected_to(port);

        CHECK(read(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 0 && close(fd) == 0);
    }
    for (int i = 0; i < 2; i++)
        CHECK(kill(workers[i], SIGTERM) == 0 && waitpid(workers[i], NULL, 0) == workers[i]);
    return succeed();
}
