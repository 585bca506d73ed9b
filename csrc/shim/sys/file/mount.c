/* mount(2) is the kernel's, but for cgroups: a new mount of them would show this computer's, so the host's are shown once more. */
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"

#define MS_RDONLY 0x1
#define MS_REMOUNT 0x20
#define MS_BIND 0x1000
#define MS_MOVE 0x2000
#define MS_CHANGES_ONE 0x1e0000 /* MS_UNBINDABLE to MS_SHARED */
#define CGROUPS "/sys/fs/cgroup"

static bool is_new(uint64_t flags)
{
    return (flags & (MS_REMOUNT | MS_BIND | MS_MOVE | MS_CHANGES_ONE)) == 0;
}

/* Controllers are all in version 2, so Linux would answer that those of version 1 are busy. */
static long mount_cgroups(struct call *call, bool is_version_2)
{
    struct stat status;
    long result;

    if (!is_version_2)
        return -EBUSY;
    if (NATIVE(stat, CGROUPS, &status) != 0 || !is_in_cgroups(call->thread, &status))
        return -EPERM;
    result = NATIVE(mount, CGROUPS, call->a[1], NULL, MS_BIND, NULL);
    if (result == 0 && (call->a[3] & MS_RDONLY) != 0)
        result = NATIVE(mount, NULL, call->a[1], NULL, MS_REMOUNT | MS_BIND | (uint64_t)call->a[3], NULL);
    return result;
}

long sys_mount(struct call *call)
{
    const char *type = (const char *)call->a[2];

    if (call->thread->process->cgroup_device != 0 && is_new((uint64_t)call->a[3]) && !is_bad_pointer(type)) {
        bool is_version_2 = text_equal(type, "cgroup2");

        if (is_version_2 || text_equal(type, "cgroup"))
            return mount_cgroups(call, is_version_2);
    }
    return call_natively(call);
}
