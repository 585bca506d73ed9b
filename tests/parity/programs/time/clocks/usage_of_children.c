// wait4, waitid and getrusage tell of children: nothing before one has been waited for, and never more than there was.
#include "check.h"

#include <sys/resource.h>
#include <sys/syscall.h>

static pid_t quick_child(void)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0)
        _exit(0);
    return child;
}

int main(void)
{
    struct rusage usage, all;
    siginfo_t info;
    int status;
    pid_t child = quick_child();

    memset(&usage, 0xff, sizeof usage);
    CHECK(wait4(child, &status, 0, &usage) == child && status == 0);
    CHECK(usage.ru_utime.tv_sec == 0 && usage.ru_stime.tv_sec == 0 && usage.ru_maxrss >= 0 && usage.ru_majflt >= 0);
    child = quick_child();
    memset(&usage, 0xff, sizeof usage);
    CHECK(syscall(SYS_waitid, P_PID, child, &info, WEXITED, &usage) == 0 && info.si_pid == child);
    CHECK(usage.ru_utime.tv_sec == 0 && usage.ru_nvcsw >= 0 && usage.ru_nivcsw >= 0);
    CHECK(getrusage(RUSAGE_CHILDREN, &all) == 0 && all.ru_utime.tv_sec == 0);
    CHECK_ERRNO(wait4(-1, &status, 0, &usage), ECHILD);
    return succeed();
}
