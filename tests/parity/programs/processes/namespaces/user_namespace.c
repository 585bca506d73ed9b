// In a user namespace of its own a program is root, and has all capabilities over what is made there; a /proc of its own may be mounted.
#include "namespaces.h"

#include <sys/syscall.h>

static void put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

static void own_proc(void)
{
    char link[32] = "";

    CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    CHECK(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0);
    CHECK(readlink("/proc/self", link, sizeof link - 1) == 1 && link[0] == '1');
    CHECK(mount("none", "/mnt", "tmpfs", 0, NULL) == 0 && mkdir("/mnt/a", 0700) == 0);
    CHECK(sethostname("inner", 5) == 0);
}

int main(void)
{
    char map[64];
    uid_t user = geteuid();
    gid_t group = getegid();
    pid_t child, within;

    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(unshare(CLONE_NEWUSER) == 0);
        snprintf(map, sizeof map, "0 %u 1", (unsigned)user);
        put("/proc/self/uid_map", map);
        put("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "0 %u 1", (unsigned)group);
        put("/proc/self/gid_map", map);
        CHECK(getuid() == 0 && geteuid() == 0 && getegid() == 0);
        CHECK_ERRNO(sethostname("outer", 5), EPERM);
        within = birth(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS);
        CHECK(within >= 0);
        if (within == 0) {
            own_proc();
            _exit(0);
        }
        CHECK_CHILD(within);
        CHECK(unshare(CLONE_NEWUSER) == 0 && geteuid() == 65534); /* one in it, in which no id is mapped */
        _exit(0);
    }
    CHECK_CHILD(child);
    CHECK(geteuid() == user);
    return succeed();
}
