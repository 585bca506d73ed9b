// Namespaces of mounts and names inside a host are the kernel's; one of pids is refused, and the program named.
// native: no (needs root)
// warns: CLONE_NEWPID
#include "check.h"

#include <sched.h>
#include <sys/syscall.h>

int main(void)
{
    struct {
        uint64_t flags, rest[10];
    } arguments = {.flags = CLONE_NEWPID};
    char name[65] = "", before[65];
    pid_t child;

    CHECK(gethostname(before, sizeof before) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(unshare(CLONE_NEWUTS | CLONE_FS) == 0 && sethostname("elsewhere", 9) == 0);
        CHECK(gethostname(name, sizeof name) == 0 && strcmp(name, "elsewhere") == 0);
        _exit(0);
    }
    CHECK_CHILD(child);
    CHECK(gethostname(name, sizeof name) == 0 && strcmp(name, before) == 0);
    CHECK_ERRNO(unshare(CLONE_NEWPID), EPERM);
    CHECK_ERRNO(syscall(SYS_clone3, &arguments, sizeof arguments), EPERM);
    child = fork();
    CHECK(child > 0 || child == 0);
    if (child == 0)
        _exit(0);
    CHECK_CHILD(child);
    return succeed();
}
