// A parent takes a copy of its child's descriptor.
#include "check.h"

#include <sys/syscall.h>

int main(void)
{
    int ready[2], ends[2] = {-1, -1};
    char text[6] = "";
    pid_t child;
    int process, copy;

    CHECK(pipe(ready) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(pipe(ends) == 0 && write(ends[1], "hello", 5) == 5);
        CHECK(write(ready[1], &ends[0], sizeof ends[0]) == sizeof ends[0]);
        pause();
    }
    CHECK(read(ready[0], &ends[0], sizeof ends[0]) == sizeof ends[0]);
    process = (int)syscall(SYS_pidfd_open, child, 0);
    CHECK(process >= 0);
    copy = (int)syscall(SYS_pidfd_getfd, process, ends[0], 0);
    CHECK(copy >= 0 || errno == EPERM);
    CHECK(copy < 0 || (read(copy, text, 5) == 5 && strcmp(text, "hello") == 0));
    CHECK_ERRNO(syscall(SYS_pidfd_getfd, process, 999, 0), copy < 0 ? EPERM : EBADF);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    return succeed();
}
