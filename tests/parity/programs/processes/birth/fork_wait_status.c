// The status of an exited child, by wait, waitpid, wait4 and waitid; ECHILD when there is none left.
#include "check.h"

#include <sys/resource.h>

static pid_t child_with(int status)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(5);
        _exit(status);
    }
    return child;
}

int main(void)
{
    struct rusage usage;
    siginfo_t info;
    int status;
    pid_t child = child_with(1);

    CHECK(wait(&status) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1);
    child = child_with(255);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 255);
    child = child_with(3);
    CHECK(wait4(-1, &status, 0, &usage) == child && WEXITSTATUS(status) == 3);
    child = child_with(4);
    CHECK(waitid(P_PID, child, &info, WEXITED | WNOWAIT) == 0);
    CHECK(info.si_pid == child && info.si_status == 4 && info.si_code == CLD_EXITED);
    CHECK(waitid(P_ALL, 0, &info, WEXITED) == 0 && info.si_pid == child);
    CHECK_ERRNO(wait(&status), ECHILD);
    CHECK_ERRNO(waitpid(child, &status, 0), ECHILD);
    return succeed();
}
