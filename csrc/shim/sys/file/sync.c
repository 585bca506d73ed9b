/* sync and fsync: the thread does not wait for the real disk. */
#include "shim/sys/device/device.h"

/* Written data are in the page cache of this computer, which outlives every emulated process. To wait for the real disk
 * would only make the run slower, and the speed of this computer's disk is not that of the emulated host. */
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
    return call_natively(call); /* descriptors of files without a disk */
}

long sys_sync(struct call *call)
{
    (void)call;
    return 0;
}
