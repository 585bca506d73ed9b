// EPOLLOUT with EPOLLET of a TCP stream: one edge when it is watched, or changed, or connected, none for each send; then one when a send
// that found no room could go on.
#include "inet.h"

#include <sys/epoll.h>

static int ends[2];
static int epoll;

static int watch(int operation, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events | EPOLLET, .data.fd = fd};

    return epoll_ctl(epoll, operation, fd, &event);
}

/* The events of the next edge within so many milliseconds; 0: none. */
static uint32_t edge(int milliseconds)
{
    struct epoll_event event;

    return epoll_wait(epoll, &event, 1, milliseconds) == 1 ? event.events : 0;
}

static void send_some(int count)
{
    for (int i = 0; i < count; i++) {
        CHECK(send(ends[0], "some bytes", 10, 0) == 10);
        CHECK(edge(20) == 0);
    }
}

static void drain(void)
{
    static char data[1 << 16];

    while (recv(ends[1], data, sizeof data, MSG_DONTWAIT) > 0)
        sleep_ms(1);
}

/* Until nothing goes any more; the peer then reads it all. */
static void fill_and_drain(void)
{
    static char data[1 << 16];

    for (int full = 0; full < 3;) { /* what is on its way makes room once more */
        ssize_t size = send(ends[0], data, sizeof data, 0);

        CHECK(size > 0 || errno == EAGAIN);
        full = size < 0 ? full + 1 : 0;
        sleep_ms(size < 0 ? 20 : 0);
    }
    while (edge(20) == EPOLLOUT)
        ; /* an edge that had come before the last send */
    CHECK(edge(20) == 0);
    for (int i = 0; i < 5; i++)
        drain();
    CHECK(edge(100) == EPOLLOUT);
    CHECK(edge(20) == 0);
}

static void check_connecting(void)
{
    int listener = listening_socket(1);
    struct sockaddr_in name = loopback(port_of(listener));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EINPROGRESS);
    CHECK(watch(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT) == 0);
    CHECK(edge(100) == EPOLLOUT && edge(20) == 0);
    CHECK(close(fd) == 0 && close(listener) == 0);
}

int main(void)
{
    tcp_pair(ends);
    epoll = epoll_create1(0);
    CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    CHECK(watch(EPOLL_CTL_ADD, ends[0], EPOLLOUT) == 0);
    CHECK(edge(20) == EPOLLOUT && edge(20) == 0);
    send_some(5);
    CHECK(watch(EPOLL_CTL_MOD, ends[0], EPOLLIN | EPOLLOUT) == 0);
    CHECK(edge(20) == EPOLLOUT);
    send_some(5);
    CHECK(write(ends[1], "x", 1) == 1 && edge(100) == (EPOLLIN | EPOLLOUT));
    CHECK(recv(ends[0], &(char){0}, 1, 0) == 1 && edge(20) == 0);
    drain();
    fill_and_drain();
    send_some(3);
    CHECK(write(ends[1], "x", 1) == 1 && edge(100) == (EPOLLIN | EPOLLOUT));
    check_connecting();
    return succeed();
}
