/* The kernel handles mount(2), except for cgroups: a new mount of cgroups would show this computer's, so the host's
 * cgroups are bound there instead. */
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"

#define MS_REMOUNT 0x20
#define MS_BIND 0x1000
#define MS_MOVE 0x2000
#define MS_CHANGES_ONE 0x1e0000 /* MS_UNBINDABLE to MS_SHARED */
#define CGROUPS "/sys/fs/cgroup"
#define SHARED_ATTRIBUTES 0xf /* flags with equal values in mount(2) and mount_setattr(2): read-only, nosuid, nodev, noexec */
#define OPEN_TREE_CLONE 1
#define MOVE_MOUNT_F_EMPTY_PATH 0x4
#define MOVE_MOUNT_FOLLOW 0x30 /* symbolic links and automounts, as mount(2) does */

struct mount_attributes {
    uint64_t set, clear, propagation, mapping;
};

static bool is_new(uint64_t flags)
{
    return (flags & (MS_REMOUNT | MS_BIND | MS_MOVE | MS_CHANGES_ONE)) == 0;
}

/* Controllers are all in version 2, so Linux would answer that those of version 1 are busy. The attributes are set
 * before the mount is attached, since afterwards the path may lead below the new mount (runc uses /proc/self/fd/6 as
 * the path). */
static long mount_cgroups(struct call *call, bool is_version_2)
{
    struct mount_attributes attributes = {.set = (uint64_t)call->a[3] & SHARED_ATTRIBUTES};
    struct stat status;
    long fd, result;

    if (!is_version_2)
        return -EBUSY;
    if (NATIVE(stat, CGROUPS, &status) != 0 || !is_in_cgroups(call->thread, &status))
        return -EPERM;
    fd = NATIVE(open_tree, AT_FDCWD, CGROUPS, OPEN_TREE_CLONE | O_CLOEXEC);
    if (fd < 0)
        return fd;
    result = attributes.set == 0 ? 0 : NATIVE(mount_setattr, fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes);
    if (result == 0)
        result = NATIVE(move_mount, fd, "", AT_FDCWD, call->a[1], MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_FOLLOW);
    NATIVE(close, fd);
    return result;
}

long sys_mount(struct call *call)
{
    const char *type = (const char *)call->a[2];

    if (call->thread->process->cgroups.device != 0 && is_new((uint64_t)call->a[3]) && !is_bad_pointer(type)) {
        bool is_version_2 = text_equal(type, "cgroup2");

        if (is_version_2 || text_equal(type, "cgroup"))
            return mount_cgroups(call, is_version_2);
    }
    return call_natively(call);
}
