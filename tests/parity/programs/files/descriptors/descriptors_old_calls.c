// The oldest forms of the calls that make descriptors, which libc no longer uses, still give the lowest free one.
#include "check.h"

#include <sys/syscall.h>

/* The call must have given this descriptor. */
static void check_gives(long wanted, long given)
{
    CHECK(given == wanted && close((int)given) == 0);
}

int main(void)
{
    long first = dup(0);
    uint64_t signals = 1ul << (SIGUSR1 - 1);
    int ends[2];

    CHECK(first > 2);
    CHECK(close((int)first) == 0);
    check_gives(first, syscall(SYS_creat, "made", 0600));
    check_gives(first, syscall(SYS_open, "made", O_RDONLY));
    check_gives(first, syscall(SYS_epoll_create, 1));
    check_gives(first, syscall(SYS_inotify_init));
    check_gives(first, syscall(SYS_signalfd, -1, &signals, sizeof signals));
    check_gives(first, syscall(SYS_eventfd, 0));
    CHECK(syscall(SYS_pipe, ends) == 0 && ends[0] == first && ends[1] == first + 1);
    CHECK(write(ends[1], "x", 1) == 1 && unlink("made") == 0);
    return succeed();
}
