// Twenty non-blocking connections driven by one epoll, the server's side too.
#include "inet.h"

#include <sys/epoll.h>

enum { CLIENTS = 20 };

static void watch(int epoll, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};

    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

int main(void)
{
    int listener = listening_socket(CLIENTS);
    struct sockaddr_in name = loopback(port_of(listener));
    int epoll = epoll_create1(0);
    int connected = 0, received = 0;

    CHECK(epoll >= 0 && fcntl(listener, F_SETFL, O_NONBLOCK) == 0);
    watch(epoll, listener, EPOLLIN);
    for (int i = 0; i < CLIENTS; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

        CHECK(fd >= 0 && (connect(fd, (struct sockaddr *)&name, sizeof name) == 0 || errno == EINPROGRESS));
        watch(epoll, fd, EPOLLOUT | EPOLLONESHOT);
    }
    while (received < CLIENTS) {
        struct epoll_event event;
        char byte;
        int fd;

        CHECK(epoll_wait(epoll, &event, 1, 5000) == 1);
        if (event.data.fd == listener) {
            fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
            CHECK(fd >= 0);
            watch(epoll, fd, EPOLLIN);
        } else if (event.events & EPOLLOUT) {
            connected++;
            CHECK(write(event.data.fd, "x", 1) == 1);
        } else {
            CHECK(read(event.data.fd, &byte, 1) == 1 && close(event.data.fd) == 0);
            received++;
        }
    }
    CHECK(connected == CLIENTS);
    return succeed();
}
