// The calls that make mounts give descriptors to those who may mount, and EPERM to all others.
#include "check.h"

#include <sys/mount.h>
#include <sys/syscall.h>

/* A descriptor, or a refusal for want of rights or of kernel support; returns it. */
static int descriptor_or_refusal(long result)
{
    CHECK(result > 2 || errno == EPERM || errno == ENOSYS || errno == EINVAL);
    return (int)result;
}

int main(void)
{
    int context = descriptor_or_refusal(syscall(430 /* fsopen */, "tmpfs", 0));

    descriptor_or_refusal(syscall(428 /* open_tree */, AT_FDCWD, ".", 0));
    descriptor_or_refusal(syscall(433 /* fspick */, AT_FDCWD, "/", 0));
    descriptor_or_refusal(syscall(467 /* open_tree_attr */, AT_FDCWD, ".", 0, NULL, 0));
    if (context < 0 || syscall(431 /* fsconfig */, context, 6 /* create */, NULL, NULL, 0) != 0)
        return succeed();
    descriptor_or_refusal(syscall(432 /* fsmount */, context, 0, 0));
    return succeed();
}
