// A signalfd of several signals in an epoll: wakes for each sender and child in its time, in one loop, as event-driven daemons do.
#include "check.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>

static pid_t sender(int signal, int64_t at_ms)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(at_ms);
        CHECK(kill(getppid(), signal) == 0);
        _exit(0);
    }
    return child;
}

int main(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct signalfd_siginfo info;
    int seen[65] = {0};
    int children = 0;
    int signals, epoll;
    int64_t start_ns;
    sigset_t set;

    CHECK(sigemptyset(&set) == 0 && sigaddset(&set, SIGUSR1) == 0 && sigaddset(&set, SIGHUP) == 0);
    CHECK(sigaddset(&set, SIGCHLD) == 0 && sigaddset(&set, SIGTERM) == 0 && sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    CHECK(signals >= 0 && epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, signals, &event) == 0);
    start_ns = now_ns();
    sender(SIGUSR1, 30);
    sender(SIGHUP, 60);
    sender(SIGTERM, 90);
    while (!seen[SIGTERM] || children < 3) {
        CHECK(epoll_wait(epoll, &event, 1, 5000) == 1);
        while (read(signals, &info, sizeof info) == sizeof info) {
            seen[info.ssi_signo]++;
            if (info.ssi_signo == SIGHUP)
                CHECK_ELAPSED(start_ns, 60);
            while (info.ssi_signo == SIGCHLD && waitpid(-1, NULL, WNOHANG) > 0)
                children++;
        }
        CHECK(errno == EAGAIN);
    }
    CHECK(seen[SIGUSR1] == 1 && seen[SIGHUP] == 1 && seen[SIGTERM] == 1);
    CHECK_ELAPSED(start_ns, 90);
    return succeed();
}
