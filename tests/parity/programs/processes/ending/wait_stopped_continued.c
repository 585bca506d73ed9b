// A child that stops and goes on is told to its parent by WUNTRACED and WCONTINUED.
#include "check.h"

int main(void)
{
    siginfo_t info;
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        raise(SIGSTOP);
        sleep_ms(10);
        _exit(9);
    }
    CHECK(waitpid(child, &status, WUNTRACED) == child);
    CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    CHECK(waitpid(child, &status, WNOHANG | WUNTRACED) == 0);
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(waitpid(child, &status, WCONTINUED) == child && WIFCONTINUED(status));
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 9);
    child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    CHECK(waitid(P_PID, child, &info, WSTOPPED) == 0 && info.si_code == CLD_STOPPED && info.si_status == SIGSTOP);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
    return succeed();
}
