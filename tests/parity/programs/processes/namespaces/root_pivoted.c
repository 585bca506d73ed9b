// pivot_root(2), as containers do it: the old root is gone, and programs start in the new one, which has no /proc at first.
// native: no (needs root, and a statically linked shell)
#include "namespaces.h"

#include <sys/syscall.h>

static char *own_path;

/* What a program needs that is linked dynamically: its file, its loader and libraries. */
static void bring(const char *from, const char *folder)
{
    char to[256];

    snprintf(to, sizeof to, "/tmp/root%s", folder);
    CHECK(mkdir(to, 0755) == 0);
    CHECK(mount(from, to, NULL, MS_BIND | MS_REC, NULL) == 0);
}

static void inside(void)
{
    char at[256];
    struct stat status;
    char *last;

    CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    CHECK(mkdir("/tmp/root", 0755) == 0 || errno == EEXIST);
    CHECK(mount("none", "/tmp/root", "tmpfs", 0, NULL) == 0);
    bring("/usr", "/usr");
    CHECK(symlink("usr/lib", "/tmp/root/lib") == 0 && symlink("usr/lib64", "/tmp/root/lib64") == 0);
    CHECK((last = strrchr(own_path, '/')) != NULL);
    snprintf(at, sizeof at, "%.*s", (int)(last - own_path), own_path);
    bring(at, "/own");
    CHECK(mkdir("/tmp/root/proc", 0755) == 0 && mkdir("/tmp/root/old", 0700) == 0);
    CHECK(chdir("/tmp/root") == 0 && syscall(SYS_pivot_root, ".", "old") == 0 && chdir("/") == 0);
    CHECK_ERRNO(stat("/etc/passwd", &status), ENOENT);
    snprintf(at, sizeof at, "/own%s", last);
    if (fork() == 0) {
        execl(at, at, "2", NULL);
        _exit(97);
    }
    CHECK_CHILD(2);
    CHECK(mount("proc", "/proc", "proc", 0, NULL) == 0); /* while there is another, as root of a user namespace has to */
    CHECK(umount2("/old", MNT_DETACH) == 0 && rmdir("/old") == 0);
    execl(at, at, "1", NULL);
    _exit(98);
}

int main(int argc, char **argv)
{
    int64_t start = now_ns();
    pid_t child;

    if (argc > 1) {
        CHECK(getpid() == atoi(argv[1]));
        sleep_ms(50);
        CHECK_ELAPSED(start, 50);
        child = fork();
        if (child == 0)
            _exit(getppid() == atoi(argv[1]) ? 0 : 1);
        CHECK_CHILD(child);
        return 0;
    }
    own_path = realpath("/proc/self/exe", NULL);
    CHECK(own_path != NULL);
    child = birth(CLONE_NEWPID | CLONE_NEWNS);
    CHECK(child >= 0);
    if (child == 0)
        inside();
    CHECK_CHILD(child);
    return succeed();
}
