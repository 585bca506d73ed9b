// waitid: WNOWAIT leaves the child to be waited for again, by pid, group or pidfd; stops and continuations are told once each.
#include "check.h"

#include <sys/syscall.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static siginfo_t told(idtype_t kind, id_t id, int options)
{
    siginfo_t info = {.si_pid = 0};

    CHECK(waitid(kind, id, &info, options) == 0);
    return info;
}

int main(void)
{
    siginfo_t info;
    int status, pidfd;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        for (;;)
            pause();
    }
    pidfd = (int)syscall(SYS_pidfd_open, child, 0);
    CHECK(pidfd >= 0);
    CHECK(kill(child, SIGSTOP) == 0);
    info = told(P_PIDFD, (id_t)pidfd, WSTOPPED | WNOWAIT);
    CHECK(info.si_pid == child && info.si_code == CLD_STOPPED && info.si_status == SIGSTOP);
    info = told(P_PID, (id_t)child, WSTOPPED);
    CHECK(info.si_pid == child && info.si_code == CLD_STOPPED);
    CHECK(told(P_PID, (id_t)child, WSTOPPED | WNOHANG).si_pid == 0);
    CHECK(kill(child, SIGCONT) == 0);
    info = told(P_ALL, 0, WCONTINUED | WEXITED);
    CHECK(info.si_pid == child && info.si_code == CLD_CONTINUED && info.si_status == SIGCONT);
    CHECK(told(P_ALL, 0, WCONTINUED | WEXITED | WNOHANG).si_pid == 0);
    CHECK(kill(child, SIGTERM) == 0);
    for (int round = 0; round < 2; round++) {
        info = told(P_PGID, (id_t)getpgrp(), WEXITED | WNOWAIT);
        CHECK(info.si_pid == child && info.si_code == CLD_KILLED && info.si_status == SIGTERM && info.si_uid == getuid());
    }
    info = told(P_PIDFD, (id_t)pidfd, WEXITED | WNOHANG);
    CHECK(info.si_pid == child && info.si_code == CLD_KILLED);
    CHECK_ERRNO(waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED), ECHILD);
    CHECK_ERRNO(waitid(P_ALL, 0, &info, 0), EINVAL);
    CHECK_ERRNO(waitpid(-1, &status, 0), ECHILD);
    return succeed();
}
