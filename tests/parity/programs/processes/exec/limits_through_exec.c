// Soft and hard limits of descriptors go through fork and exec as they are; the hard limit of core files is what the soft one may
// be raised to.
#include "check.h"

#include <sys/resource.h>

int main(int argc, char **argv)
{
    struct rlimit limit;
    pid_t child;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (argc > 1) {
        CHECK(limit.rlim_cur == 100 && limit.rlim_max == 200);
        _exit(0);
    }
    limit.rlim_cur = 100;
    limit.rlim_max = 200;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    child = fork();
    if (child == 0) {
        execl("/proc/self/exe", argv[0], "again", NULL);
        _exit(1);
    }
    CHECK_CHILD(child);
    CHECK(getrlimit(RLIMIT_CORE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_CORE, &limit) == 0);
    return succeed();
}
