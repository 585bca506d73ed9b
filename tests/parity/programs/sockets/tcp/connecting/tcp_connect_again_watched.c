// A socket whose non-blocking connect was refused is still watched by epoll when it is connected again.
#include "inet.h"

#include <sys/epoll.h>

int main(void)
{
    int listener = bound_socket(SOCK_STREAM);
    struct sockaddr_in name = loopback(port_of(listener));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLOUT, .data.u64 = 0x123456789a};
    struct epoll_event seen = {0};
    int error = -1;
    socklen_t size = sizeof error;

    CHECK(epoll >= 0);
    CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EINPROGRESS);
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
    CHECK(epoll_wait(epoll, &seen, 1, 5000) == 1 && (seen.events & EPOLLERR) != 0 && seen.data.u64 == event.data.u64);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == ECONNREFUSED);
    CHECK(listen(listener, 1) == 0);
    if (connect(fd, (struct sockaddr *)&name, sizeof name) != -1 || errno == ECONNABORTED) /* Linux says so once */
        CHECK_ERRNO(connect(fd, (struct sockaddr *)&name, sizeof name), EINPROGRESS);
    CHECK(epoll_wait(epoll, &seen, 1, 5000) == 1 && seen.events == EPOLLOUT && seen.data.u64 == event.data.u64);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0);
    CHECK(epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) == 0);
    CHECK(epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL) == 0);
    CHECK_ERRNO(epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL), ENOENT);
    return succeed();
}
