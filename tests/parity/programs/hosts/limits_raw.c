// The getrlimit and setrlimit system calls themselves: a lowered limit of descriptors is told, and heeded.
#include "check.h"

#include <sys/resource.h>
#include <sys/syscall.h>

int main(void)
{
    struct rlimit limit, after;

    CHECK(syscall(SYS_getrlimit, RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 20);
    limit.rlim_cur = 20;
    CHECK(syscall(SYS_setrlimit, RLIMIT_NOFILE, &limit) == 0);
    CHECK(syscall(SYS_getrlimit, RLIMIT_NOFILE, &after) == 0);
    CHECK(after.rlim_cur == 20 && after.rlim_max == limit.rlim_max);
    CHECK_ERRNO(fcntl(0, F_DUPFD, 20), EINVAL);
    while (dup(0) >= 0)
        continue;
    CHECK(errno == EMFILE);
    return succeed();
}
