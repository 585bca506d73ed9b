/* Namespaces inside a host's own: mounts, names, users, networks and IPC are the kernel's; pids are how the server knows
 * processes. */
#include "shim/core/core.h"

long sys_unshare(struct call *call)
{
    if (call->a[0] & CLONE_NEWPID) {
        warn_once(call->thread, WARN_REFUSED, "unshare(CLONE_NEWPID): the server knows processes by the host's pids", NULL);
        return -EPERM;
    }
    return NATIVE(unshare, call->a[0]);
}
