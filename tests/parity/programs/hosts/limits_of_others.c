// prlimit(2) of another process: its limit of descriptors is asked, and lowered for the program that it execs.
#include "check.h"

#include <sys/resource.h>

static void lowered_before_exec(const char *self)
{
    struct rlimit own, seen, lower = {100, 200}, wrong = {200, 100};
    int go[2];
    char byte;
    pid_t child;

    CHECK(getrlimit(RLIMIT_NOFILE, &own) == 0 && pipe(go) == 0);
    child = fork();
    if (child == 0) {
        CHECK(read(go[0], &byte, 1) == 1);
        execl(self, self, "sees", NULL);
        _exit(1);
    }
    CHECK(prlimit(child, RLIMIT_NOFILE, NULL, &seen) == 0 && seen.rlim_cur == own.rlim_cur && seen.rlim_max == own.rlim_max);
    CHECK_ERRNO(prlimit(child, RLIMIT_NOFILE, &wrong, NULL), EINVAL);
    CHECK(prlimit(child, RLIMIT_NOFILE, &lower, &seen) == 0 && seen.rlim_cur == own.rlim_cur);
    CHECK(prlimit(child, RLIMIT_NOFILE, NULL, &seen) == 0 && seen.rlim_cur == 100 && seen.rlim_max == 200);
    CHECK(getrlimit(RLIMIT_NOFILE, &seen) == 0 && seen.rlim_cur == own.rlim_cur);
    CHECK(write(go[1], "x", 1) == 1);
    CHECK_CHILD(child);
    CHECK_ERRNO(prlimit(child, RLIMIT_NOFILE, NULL, &seen), ESRCH);
}

int main(int argc, char **argv)
{
    struct rlimit limit;

    if (argc > 1) {
        CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 100 && limit.rlim_max == 200);
        CHECK(dup2(0, 99) == 99);
        CHECK_ERRNO(dup2(0, 100), EBADF);
        return 0;
    }
    lowered_before_exec(argv[0]);
    return succeed();
}
