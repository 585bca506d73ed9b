// A pidfd is readable when its process has ended; signals can be sent and children awaited through it.
#include "check.h"

#include <poll.h>
#include <sys/syscall.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

int main(void)
{
    struct pollfd polled;
    int64_t start_ns = now_ns();
    siginfo_t info;
    pid_t child = fork();
    int fd;

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(100000);
        _exit(0);
    }
    fd = syscall(SYS_pidfd_open, child, 0);
    CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    polled = (struct pollfd){.fd = fd, .events = POLLIN};
    CHECK(poll(&polled, 1, 30) == 0);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) == 0);
    CHECK(poll(&polled, 1, 5000) == 1 && polled.revents == POLLIN);
    CHECK(waitid(P_PIDFD, fd, &info, WEXITED) == 0 && info.si_pid == child && info.si_status == SIGTERM);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}
