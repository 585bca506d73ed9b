// chmod, chown and attributes change a file's time of change, by whatever name and folder it is given; links are followed or not.
// native: slow
#include "file_times.h"

#include <sys/xattr.h>

#define F "folder/file"
#define L "link"
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#define SYS_SETXATTRAT 463
#define SYS_REMOVEXATTRAT 466

struct value {
    uint64_t data;
    uint32_t size, flags;
};

static void check_attributes(int folder)
{
    struct value value = {(uintptr_t) "x", 1, 0}, other = {(uintptr_t) "y", 1, 0};

    if (setxattr(F, "user.first", "x", 1, 0) != 0) {
        CHECK(errno == EOPNOTSUPP);
        return;
    }
    STEP(F, CHANGES, setxattr(L, "user.one", "x", 1, 0));
    STEP(F, CHANGES, lsetxattr(F, "user.two", "x", 1, 0));
    STEP(F, CHANGES, removexattr(L, "user.one"));
    STEP(F, CHANGES, lremovexattr(F, "user.two"));
    if (syscall(SYS_SETXATTRAT, folder, "file", 0, "user.three", &value, sizeof value) != 0) {
        CHECK(errno == ENOSYS);
        return;
    }
    STEP(F, CHANGES, syscall(SYS_SETXATTRAT, folder, "file", 0, "user.three", &other, sizeof other));
    STEP(F, CHANGES, syscall(SYS_REMOVEXATTRAT, folder, "file", 0, "user.three"));
}

int main(void)
{
    int folder;

    CHECK(mkdir("folder", 0700) == 0 && close(creat(F, 0600)) == 0 && symlink(F, L) == 0);
    folder = open("folder", O_RDONLY | O_DIRECTORY);
    STEP(F, CHANGES, chmod(F, 0640));
    STEP(F, CHANGES, chmod(L, 0600));
    STEP(L, KEEPS, chmod(L, 0640));
    STEP(F, CHANGES, chown(L, getuid(), getgid()));
    STEP(L, CHANGES, lchown(L, getuid(), getgid()));
    STEP(F, KEEPS, lchown(L, getuid(), getgid()));
    STEP(F, CHANGES, fchmodat(folder, "file", 0600, 0));
    STEP(F, CHANGES, fchownat(folder, "file", getuid(), getgid(), 0));
    STEP(L, CHANGES, fchownat(AT_FDCWD, L, getuid(), getgid(), AT_SYMLINK_NOFOLLOW));
    if (syscall(SYS_fchmodat2, folder, "file", 0640, 0) == 0)
        STEP(F, CHANGES, syscall(SYS_fchmodat2, folder, "file", 0640, 0));
    STEP(F, WRITES, truncate(L, 10));
    STEP("folder", KEEPS, chmod(F, 0600));
    STEP("folder", CHANGES, chmod("folder", 0750));
    check_attributes(folder);
    return succeed();
}
