/* Changing the root directory: the files of /proc that the shim reads must stay within its reach. */
#include "shim/core/core.h"

static void hide(struct process *process, int folder)
{
    descriptors_raise();
    process->proc = descriptor_number(process, descriptor_hide(process, folder));
    descriptors_limit(process);
}

long sys_chroot(struct call *call)
{
    struct process *process = call->thread->process;
    long folder = process->proc > 0 ? -EEXIST : NATIVE(openat, AT_FDCWD, "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    long result = NATIVE(chroot, call->a[0]);

    if (folder >= 0 && result == 0)
        hide(process, (int)folder);
    else if (folder >= 0)
        NATIVE(close, folder);
    return result;
}
