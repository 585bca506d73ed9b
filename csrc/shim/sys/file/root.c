/* Changing the root directory: the files of /proc that the shim reads must stay within its reach. */
#include "shim/pids/pids.h"

long sys_chroot(struct call *call)
{
    proc_keep(call->thread->process);
    return NATIVE(chroot, call->a[0]);
}

long sys_pivot_root(struct call *call)
{
    proc_keep(call->thread->process);
    return NATIVE(pivot_root, call->a[0], call->a[1]);
}
