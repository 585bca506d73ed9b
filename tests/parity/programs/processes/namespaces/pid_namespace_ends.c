// The end of process 1 of a PID namespace is that of all others in it, and in the namespaces within; orphans are its children; after
// it nobody can be born there.
#include "namespaces.h"

static int up[2];

static void sleep_for_good(void)
{
    for (;;)
        pause();
}

/* A child whose child outlives it. */
static void leave_orphan(void)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        pid_t orphan = fork();

        CHECK(orphan >= 0);
        if (orphan != 0)
            _exit(0);
        sleep_ms(50);
        CHECK(getppid() == 1);
        _exit(9);
    }
    CHECK_CHILD(child);
}

static void inside(void)
{
    int status;
    pid_t within;

    leave_orphan();
    CHECK(waitpid(-1, &status, 0) > 0 && WEXITSTATUS(status) == 9);
    for (int i = 0; i < 3; i++)
        if (fork() == 0)
            sleep_for_good();
    within = birth(CLONE_NEWPID);
    CHECK(within >= 0);
    if (within == 0) {
        CHECK(getpid() == 1);
        if (fork() == 0)
            sleep_for_good();
        tell(up[1]);
        sleep_for_good();
    }
    tell(up[1]);
    sleep_ms(20);
    _exit(5);
}

/* All of them have this end of a pipe. */
static void await_last(int end)
{
    char byte;

    CHECK(close(up[1]) == 0);
    CHECK(read(end, &byte, 1) == 0);
}

static void unshared(void)
{
    pid_t child;

    CHECK(unshare(needed_flags() | CLONE_NEWPID) == 0);
    CHECK(getpid() > 1);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(getpid() == 1 ? 0 : 1);
    CHECK_CHILD(child);
    CHECK_ERRNO(fork(), ENOMEM);
}

int main(void)
{
    int status;
    pid_t child;

    CHECK(pipe(up) == 0);
    child = birth(needed_flags() | CLONE_NEWPID);
    CHECK(child >= 0);
    if (child == 0)
        inside();
    hear(up[0]);
    hear(up[0]);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    await_last(up[0]);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        unshared();
        _exit(0);
    }
    CHECK_CHILD(child);
    return succeed();
}
