// The select system call itself waits for its timeout and tells that nothing of it is left.
#include "check.h"

#include <sys/select.h>
#include <sys/syscall.h>

int main(void)
{
    struct timeval timeout = {.tv_usec = 30000};
    int64_t start_ns = now_ns();
    fd_set set;
    int ends[2];

    CHECK(pipe(ends) == 0);
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    CHECK(syscall(SYS_select, ends[0] + 1, &set, NULL, NULL, &timeout) == 0);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(timeout.tv_sec == 0 && timeout.tv_usec == 0 && !FD_ISSET(ends[0], &set));
    CHECK(write(ends[1], "x", 1) == 1);
    FD_SET(ends[0], &set);
    CHECK(syscall(SYS_select, ends[0] + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(ends[0], &set));
    return succeed();
}
