// A filter that allows everything can be installed, and changes nothing.
// warns: seccomp: answered with success, but the filter was refused
#include "check.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int main(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = 1, .filter = &allow};
    int64_t start_ns = now_ns();

    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
    CHECK_ERRNO(syscall(SYS_seccomp, 99, 0, &program), EINVAL);
    sleep_ms(20);
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}
