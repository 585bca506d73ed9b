// A mount namespace and one of names, inside a host's own: what is changed in them stays there.
#include "namespaces.h"

#include <sys/stat.h>

int main(void)
{
    char name[65] = "", before[65];
    struct stat folder, mounted;
    pid_t child;

    CHECK(gethostname(before, sizeof before) == 0 && stat("/mnt", &folder) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(unshare(needed_flags() | CLONE_NEWUTS | CLONE_NEWNS | CLONE_FS) == 0 && sethostname("elsewhere", 9) == 0);
        CHECK(gethostname(name, sizeof name) == 0 && strcmp(name, "elsewhere") == 0);
        CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
        CHECK(mount("none", "/mnt", "tmpfs", 0, NULL) == 0);
        CHECK(stat("/mnt", &mounted) == 0 && mounted.st_dev != folder.st_dev);
        _exit(0);
    }
    CHECK_CHILD(child);
    CHECK(gethostname(name, sizeof name) == 0 && strcmp(name, before) == 0);
    CHECK(stat("/mnt", &mounted) == 0 && mounted.st_dev == folder.st_dev);
    return succeed();
}
