// ppoll waits with another mask: a signal sent meanwhile by a child interrupts it.
#include "check.h"

#include <poll.h>

static volatile sig_atomic_t caught;

static void handler(int number)
{
    caught = number;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};
    struct timespec limit = {.tv_sec = 5};
    int64_t start_ns = now_ns();
    sigset_t blocked, open;
    pid_t child;

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    sigemptyset(&open);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &blocked, NULL) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(50);
        _exit(kill(getppid(), SIGUSR1));
    }
    CHECK_ERRNO(ppoll(NULL, 0, &limit, &open), EINTR);
    CHECK_ELAPSED(start_ns, 50);
    CHECK(caught == SIGUSR1);
    CHECK_CHILD(child);
    return succeed();
}
