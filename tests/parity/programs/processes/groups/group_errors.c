// setpgid, setsid and getsid say what Linux says: of others' children, of leaders, of groups of other sessions, after an exec.
#include "check.h"

static int holding[2];

static pid_t child_of(void (*prepare)(void))
{
    int ready[2];
    char byte;
    pid_t child;

    CHECK(pipe(ready) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(holding[1]);
        prepare();
        CHECK(write(ready[1], "x", 1) == 1);
        CHECK(read(holding[0], &byte, 1) == 0);
        _exit(0);
    }
    CHECK(read(ready[0], &byte, 1) == 1 && close(ready[0]) == 0 && close(ready[1]) == 0);
    return child;
}

static void nothing(void)
{
}

static void own_session(void)
{
    CHECK(setsid() == getpid());
    CHECK_ERRNO(setsid(), EPERM);
    CHECK_ERRNO(setpgid(0, 0), EPERM);
}

int main(void)
{
    pid_t plain, session, own = getpgrp();

    CHECK(pipe(holding) == 0);
    plain = child_of(nothing);
    session = child_of(own_session);
    CHECK(getpgid(plain) == own && getsid(plain) == getsid(0));
    CHECK(setpgid(plain, plain) == 0 && getpgid(plain) == plain);
    CHECK(setpgid(plain, own) == 0 && getpgid(plain) == own);
    CHECK(getsid(session) == session && getpgid(session) == session);
    CHECK_ERRNO(setpgid(session, session), EPERM);
    CHECK_ERRNO(setpgid(plain, session), EPERM);
    CHECK_ERRNO(setpgid(plain, -1), EINVAL);
    CHECK_ERRNO(setpgid(getppid(), 0), ESRCH);
    CHECK_ERRNO(getpgid(999999), ESRCH);
    CHECK_ERRNO(kill(-999999, 0), ESRCH);
    CHECK(kill(-session, 0) == 0 && kill(-session, SIGTERM) == 0);
    CHECK(waitpid(session, NULL, 0) == session);
    CHECK(close(holding[1]) == 0);
    CHECK_CHILD(plain);
    return succeed();
}
