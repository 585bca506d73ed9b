// A file system has blocks, some of them free, and a name length; one of the kernel's own has none.
#include "check.h"

#include <sys/statfs.h>

int main(void)
{
    struct statfs by_name, by_descriptor, kernels;
    int folder = open(".", O_RDONLY | O_DIRECTORY);

    CHECK(folder >= 0);
    CHECK(statfs(".", &by_name) == 0 && fstatfs(folder, &by_descriptor) == 0);
    CHECK(by_name.f_type == by_descriptor.f_type && by_name.f_blocks == by_descriptor.f_blocks);
    CHECK(by_name.f_blocks > 0 && by_name.f_bfree <= by_name.f_blocks && by_name.f_bavail <= by_name.f_bfree);
    CHECK(by_name.f_bsize > 0 && by_name.f_namelen == 255);
    CHECK(statfs("/proc", &kernels) == 0 && kernels.f_blocks == 0);
    CHECK_ERRNO(statfs("missing", &by_name), ENOENT);
    CHECK_ERRNO(fstatfs(-1, &by_name), EBADF);
    CHECK_ERRNO(fstatfs(1000, &by_name), EBADF);
    return succeed();
}
