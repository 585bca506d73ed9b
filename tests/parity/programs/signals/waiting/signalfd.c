// A signalfd is readable when a blocked signal pends, and tells who sent it.
#include "check.h"

#include <poll.h>
#include <sys/signalfd.h>

int main(void)
{
    struct signalfd_siginfo info;
    struct pollfd polled;
    int64_t start_ns = now_ns();
    sigset_t set;
    pid_t child;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    fd = signalfd(-1, &set, SFD_CLOEXEC);
    CHECK(fd >= 0);
    polled = (struct pollfd){.fd = fd, .events = POLLIN};
    CHECK(poll(&polled, 1, 0) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(kill(getppid(), SIGUSR1) == 0);
        sleep_ms(20);
        _exit(5);
    }
    CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(poll(&polled, 1, 5000) == 1 && polled.revents == POLLIN);
    CHECK_ELAPSED(start_ns, 40);
    CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGCHLD);
    CHECK((pid_t)info.ssi_pid == child && info.ssi_status == 5);
    CHECK(waitpid(child, NULL, 0) == child);
    return succeed();
}
