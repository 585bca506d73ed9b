// epoll_pwait is interrupted by a signal that only its own mask lets in.
#include "check.h"

#include <sys/epoll.h>

static volatile sig_atomic_t caught;

static void handler(int number)
{
    caught = number;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct epoll_event event;
    int epoll = epoll_create1(0);
    int64_t start_ns = now_ns();
    sigset_t blocked, open;
    pid_t child;

    CHECK(epoll >= 0 && sigaction(SIGUSR2, &action, NULL) == 0);
    sigemptyset(&open);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &blocked, NULL) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(30);
        _exit(kill(getppid(), SIGUSR2));
    }
    CHECK_ERRNO(epoll_pwait(epoll, &event, 1, 5000, &open), EINTR);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(caught == SIGUSR2);
    CHECK_CHILD(child);
    return succeed();
}
