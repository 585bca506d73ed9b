// The fork system call itself, which libc no longer uses, makes a child that sleeps and is waited for.
#include "check.h"

#include <sys/syscall.h>

int main(void)
{
    int64_t start_ns = now_ns();
    long child = syscall(SYS_fork);

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(30);
        _exit(0);
    }
    CHECK_CHILD((pid_t)child);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}
