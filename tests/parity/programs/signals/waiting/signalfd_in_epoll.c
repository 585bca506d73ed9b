// A signalfd in an epoll, as PostgreSQL's latches are: every signal of another process ends the wait, again and again.
#include "check.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>

enum { ROUNDS = 5 };

static void signal_parent(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        sleep_ms(20);
        CHECK(kill(getppid(), SIGURG) == 0);
    }
    _exit(0);
}

int main(void)
{
    struct signalfd_siginfo info;
    struct epoll_event event = {.events = EPOLLIN};
    int64_t start_ns = now_ns();
    sigset_t set;
    pid_t child;
    int fd, epoll = epoll_create1(0);

    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    fd = signalfd(-1, &set, SFD_NONBLOCK);
    CHECK(fd >= 0 && epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        signal_parent();
    for (int i = 1; i <= ROUNDS; i++) {
        CHECK(epoll_wait(epoll, &event, 1, 5000) == 1);
        CHECK_ELAPSED(start_ns, 20 * i);
        CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGURG);
        CHECK_ERRNO(read(fd, &info, sizeof info), EAGAIN);
    }
    CHECK(epoll_wait(epoll, &event, 1, 0) == 0);
    CHECK_CHILD(child);
    return succeed();
}
