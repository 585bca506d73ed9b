// A signalfd read by the child gives the child's own signals.
#include "check.h"

#include <sys/signalfd.h>

int main(void)
{
    struct signalfd_siginfo info;
    int64_t start_ns = now_ns();
    sigset_t set;
    pid_t child;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    fd = signalfd(-1, &set, 0);
    CHECK(fd >= 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1);
        CHECK_ELAPSED(start_ns, 30);
        _exit(0);
    }
    sleep_ms(30);
    CHECK(kill(child, SIGUSR1) == 0);
    CHECK_CHILD(child);
    return succeed();
}
