// A cgroup namespace can be made and entered; the group of the process stays. Cgroups are mounted where a descriptor says, as runc does.
#include "namespaces.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define CGROUP2 0x63677270 /* f_type */
#define READ_ONLY (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)

static void own_group(char *line, int size)
{
    FILE *file = fopen("/proc/self/cgroup", "r");

    CHECK(file != NULL && fgets(line, size, file) != NULL && fclose(file) == 0);
}

static void mounted_by_a_descriptor(void)
{
    struct statfs system;
    char path[64];
    int fd;

    CHECK(mkdir("groups", 0755) == 0 && (fd = open("groups", O_PATH | O_DIRECTORY)) >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (mount("cgroup", path, "cgroup2", READ_ONLY, NULL) != 0) {
        CHECK(!is_emulated()); /* natively, a container's may be refused */
        return;
    }
    CHECK(statfs("groups", &system) == 0 && system.f_type == CGROUP2);
    CHECK(open("groups/cgroup.procs", O_WRONLY) == -1 &&
          (errno == EROFS || (errno == EACCES && !is_emulated()))); /* a user's */
    CHECK(access("groups/cgroup.controllers", R_OK) == 0 && umount2("groups", MNT_DETACH) == 0);
}

int main(void)
{
    char before[256], after[256];
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        own_group(before, sizeof before);
        CHECK(unshare(needed_flags() | CLONE_NEWCGROUP) == 0);
        own_group(after, sizeof after);
        CHECK(!is_emulated() || strcmp(before, after) == 0); /* natively the path is told from here on */
        CHECK(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
        mounted_by_a_descriptor();
        _exit(0);
    }
    CHECK_CHILD(child);
    return succeed();
}
