// A refused connect and a reset are told by epoll as errors and by select as readable and writable; who writes then meets the error
// first and a broken pipe later.
#include "inet.h"

#include <sys/epoll.h>
#include <sys/select.h>

static void check_ready(int fd)
{
    struct timeval limit = {5, 0};
    fd_set reads, writes;

    FD_ZERO(&reads);
    FD_SET(fd, &reads);
    writes = reads;
    CHECK(select(fd + 1, &reads, &writes, NULL, &limit) == 2);
    CHECK(FD_ISSET(fd, &reads) && FD_ISSET(fd, &writes));
}

static void refused(void)
{
    struct sockaddr_in name = loopback(port_of(bound_socket(SOCK_STREAM)));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int watcher = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLOUT};
    char byte;

    CHECK(epoll_ctl(watcher, EPOLL_CTL_ADD, fd, &event) == 0);
    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EINPROGRESS);
    CHECK(epoll_wait(watcher, &event, 1, 5000) == 1 && event.events == (EPOLLOUT | EPOLLERR | EPOLLHUP));
    check_ready(fd);
    CHECK_ERRNO(read(fd, &byte, 1), ECONNREFUSED);
    CHECK(epoll_wait(watcher, &event, 1, 5000) == 1 && event.events == (EPOLLOUT | EPOLLHUP));
}

static void reset(void)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    int watcher = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET};
    int ends[2];

    tcp_pair(ends);
    CHECK(epoll_ctl(watcher, EPOLL_CTL_ADD, ends[1], &event) == 0);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    CHECK(close(ends[0]) == 0);
    CHECK(epoll_wait(watcher, &event, 1, 5000) == 1);
    CHECK(event.events == (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP));
    check_ready(ends[1]);
    CHECK_ERRNO(write(ends[1], "x", 1), ECONNRESET);
    CHECK_ERRNO(send(ends[1], "x", 1, MSG_NOSIGNAL), EPIPE);
}

int main(void)
{
    refused();
    reset();
    return succeed();
}
