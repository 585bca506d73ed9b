// setns(2) into a PID namespace: the next children are in it, numbered there, and their parent outside; its process 1 is gone only
// once they have been waited for.
// native: no (needs root)
#include "namespaces.h"

#include <sys/syscall.h>

static int up[2], down[2];

static void inside(void)
{
    tell(up[1]);
    hear(down[0]);
    _exit(3);
}

int main(void)
{
    char path[64];
    int space, own, pidfd;
    pid_t child, entered;
    int status;

    CHECK(pipe(up) == 0 && pipe(down) == 0);
    child = birth(CLONE_NEWPID);
    CHECK(child >= 0);
    if (child == 0)
        inside();
    hear(up[0]);
    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)child);
    CHECK((space = open(path, O_RDONLY | O_CLOEXEC)) >= 0);
    CHECK((own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC)) >= 0);
    CHECK(setns(space, CLONE_NEWPID) == 0);
    entered = fork();
    CHECK(entered >= 0);
    if (entered == 0) {
        CHECK(getpid() == 2 && getppid() == 0 && kill(1, 0) == 0);
        CHECK_ERRNO(setns(own, CLONE_NEWPID), EINVAL); /* none goes out again */
        CHECK(kill(getpid(), 0) == 0);
        _exit(0);
    }
    CHECK(entered > child);
    CHECK_CHILD(entered);
    CHECK(setns(own, CLONE_NEWPID) == 0); /* back */
    entered = fork();
    CHECK(entered >= 0);
    if (entered == 0)
        _exit(getpid() > 3 && getppid() > 1 ? 0 : 1);
    CHECK_CHILD(entered);
    CHECK((pidfd = (int)syscall(SYS_pidfd_open, child, 0)) >= 0);
    CHECK(setns(pidfd, CLONE_NEWPID) == 0);
    entered = fork();
    CHECK(entered >= 0);
    if (entered == 0)
        for (;;)
            pause();
    tell(down[1]);
    CHECK(waitpid(entered, &status, 0) == entered && WTERMSIG(status) == SIGKILL);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    CHECK_ERRNO(fork(), ENOMEM);
    return succeed();
}
