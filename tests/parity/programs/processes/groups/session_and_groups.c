// setsid and setpgid say what getsid and getpgid then tell; a session leader may not do it again.
#include "check.h"

int main(void)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(getpgrp() == getpgid(getppid()));
        CHECK(setpgid(0, 0) == 0 && getpgrp() == getpid());
        CHECK_ERRNO(setsid(), EPERM);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            CHECK(getpgrp() == getppid());
            CHECK(setsid() == getpid() && getsid(0) == getpid() && getpgrp() == getpid());
            _exit(0);
        }
        CHECK_CHILD(child);
        _exit(0);
    }
    CHECK_CHILD(child);
    return succeed();
}
