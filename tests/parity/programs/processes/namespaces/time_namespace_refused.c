// Namespaces of clocks are refused, and the program named: all programs of a host have the emulation's clocks.
// native: no (Linux makes one)
// warns: CLONE_NEWTIME
#include "namespaces.h"

int main(void)
{
    pid_t child;

    CHECK_ERRNO(unshare(0x80), EPERM);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(0);
    CHECK_CHILD(child);
    CHECK_ERRNO(birth(0x80), EPERM);
    return succeed();
}
