// clone with CLONE_PIDFD gives a descriptor that becomes readable when the child ends.
#include "check.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>

int main(void)
{
    struct pollfd polled;
    int64_t start_ns = now_ns();
    int pidfd = -1;
    pid_t child = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, &pidfd, NULL, NULL);

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(30);
        _exit(0);
    }
    CHECK(pidfd >= 0);
    polled = (struct pollfd){.fd = pidfd, .events = POLLIN};
    CHECK(poll(&polled, 1, 0) == 0);
    CHECK(poll(&polled, 1, 5000) == 1 && polled.revents == POLLIN);
    CHECK_ELAPSED(start_ns, 30);
    CHECK_CHILD(child);
    return succeed();
}
