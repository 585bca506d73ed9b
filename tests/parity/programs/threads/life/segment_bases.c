// The thread pointer can be read and set to what it is.
#include "check.h"

#include <asm/prctl.h>
#include <sys/syscall.h>

static __thread int own = 7;

int main(void)
{
    unsigned long base = 0;

    CHECK(syscall(SYS_arch_prctl, ARCH_GET_FS, &base) == 0 && base != 0);
    CHECK(syscall(SYS_arch_prctl, ARCH_SET_FS, base) == 0);
    CHECK(own == 7);
    CHECK_ERRNO(syscall(SYS_arch_prctl, 0, &base), EINVAL);
    return succeed();
}
