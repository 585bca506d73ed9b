// A mount namespace and one of names, inside a host's own: what is changed in them stays there.
#include "namespaces.h"

int main(void)
{
    char name[65] = "", before[65];
    pid_t child;

    CHECK(gethostname(before, sizeof before) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(unshare(needed_flags() | CLONE_NEWUTS | CLONE_NEWNS | CLONE_FS) == 0 && sethostname("elsewhere", 9) == 0);
        CHECK(gethostname(name, sizeof name) == 0 && strcmp(name, "elsewhere") == 0);
        CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
        CHECK(mount("none", "/mnt", "tmpfs", 0, NULL) == 0);
        CHECK(open("/mnt/here", O_CREAT | O_WRONLY | O_CLOEXEC, 0600) >= 0);
        _exit(0);
    }
    CHECK_CHILD(child);
    CHECK(gethostname(name, sizeof name) == 0 && strcmp(name, before) == 0);
    CHECK_ERRNO(access("/mnt/here", F_OK), ENOENT);
    return succeed();
}
