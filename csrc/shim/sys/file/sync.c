/* sync and fsync: nothing waits for the real disk. */
#include "shim/core/core.h"

/* What is written is in the page cache, which outlives every emulated process; waiting for the real disk would only make the
 * run slower, and the slowness of this computer's disk is not the emulated host's. */
long sys_fsync(struct call *call)
{
    long result = descriptor_is_ours(call, call->a[0]) ? -EBADF : NATIVE(fcntl, call->a[0], F_GETFD, 0);

    return result < 0 ? result : 0;
}

long sys_sync(struct call *call)
{
    (void)call;
    return 0;
}
