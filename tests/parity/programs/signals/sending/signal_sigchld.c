// The death of a child interrupts its parent's pause; the handler learns who it was.
#include "check.h"

static volatile sig_atomic_t dead, code;

static void handler(int number, siginfo_t *info, void *context)
{
    CHECK(number == SIGCHLD && context != NULL);
    dead = info->si_pid;
    code = info->si_status;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    int64_t start_ns = now_ns();
    int status;
    pid_t child;

    CHECK(sigaction(SIGCHLD, &action, NULL) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(30);
        _exit(4);
    }
    CHECK_ERRNO(pause(), EINTR);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(dead == child && code == 4);
    CHECK(waitpid(child, &status, WNOHANG) == child && WEXITSTATUS(status) == 4);
    return succeed();
}
