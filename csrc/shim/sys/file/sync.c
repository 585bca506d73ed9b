/* sync and fsync: nothing waits for the real disk. */
#include "shim/sys/device/device.h"

/* What is written is in the page cache, which outlives every emulated process; waiting for the real disk would only make the
 * run slower, and the slowness of this computer's disk is not the emulated host's. */
long sys_fsync(struct call *call)
{
    struct stat status;
    long result = descriptor_is_ours(call, call->a[0]) ? -EBADF : NATIVE(fstat, call->a[0], &status);
    unsigned kind = status.st_mode & S_IFMT;

    if (result < 0)
        return result;
    if (is_device(call->thread, &status))
        return -EINVAL;
    if (kind == S_IFREG || kind == S_IFDIR || kind == S_IFBLK)
        return 0;
    return call_natively(call); /* what has no disk */
}

long sys_sync(struct call *call)
{
    (void)call;
    return 0;
}
