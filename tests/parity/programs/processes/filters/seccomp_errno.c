// A filter has calls fail with its errno, by number and arguments; several filters, the strictest answer; threads, children and new
// images have the filters of their creator; what the filter allows works as before.
#include "seccomp.h"

#ifdef __GLIBC__
#define IS_MUSL 0
#else
#define IS_MUSL 1 /* which makes the older calls */
#endif

#include <pthread.h>
#include <sys/socket.h>

static void check_denied(void)
{
    CHECK_ERRNO(mkdir("/tmp/seccomp_errno", 0700), EPERM);
    CHECK_ERRNO(syscall(SYS_mkdir, "/tmp/seccomp_errno", 0700), EPERM);
}

static void *in_thread(void *unused)
{
    check_denied();
    return unused;
}

/* socket(2) is denied for one family: the first argument, low half. */
static void deny_family(int family)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)family, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog given = {.len = sizeof program / sizeof program[0], .filter = program};

    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &given) == 0);
}

static void check_status_of(pid_t pid, int mode, int filters)
{
    char line[200];
    FILE *file;
    int shown = -1, count = -1;

    snprintf(line, sizeof line, "/proc/%d/status", (int)pid);
    file = fopen(line, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "Seccomp: %d", &shown);
        sscanf(line, "Seccomp_filters: %d", &count);
    }
    CHECK(fclose(file) == 0 && shown == mode && count == filters);
}

static void check_here(void)
{
    int64_t start_ns = now_ns();

    check_denied();
    CHECK(rmdir("/tmp/seccomp_errno") == -1 && errno == ENOENT);
    sleep_ms(3);
    CHECK_ELAPSED(start_ns, 3);
}

/* What the C library calls for stat(3) and its kin. */
static void check_stat(void)
{
    struct stat status;

    CHECK(filter_one(SYS_stat, SECCOMP_RET_KILL_PROCESS, 0) == 0 && filter_one(SYS_fstat, SECCOMP_RET_KILL_PROCESS, 0) == 0);
    CHECK(filter_one(SYS_lstat, SECCOMP_RET_KILL_PROCESS, 0) == 0);
    CHECK(stat("/", &status) == 0 && S_ISDIR(status.st_mode) && lstat("/proc/self", &status) == 0 && S_ISLNK(status.st_mode));
    CHECK(fstat(STDERR_FILENO, &status) == 0);
    CHECK(filter_one(SYS_newfstatat, SECCOMP_RET_ERRNO | EDOM, 0) == 0);
    CHECK_ERRNO(stat("/", &status), EDOM);
    CHECK_ERRNO(fstat(STDERR_FILENO, &status), EDOM);
}

int main(int count, char **words)
{
    pthread_t thread;

    if (count > 1) { /* the new image */
        check_here();
        CHECK_ERRNO(socket(AF_UNIX, SOCK_STREAM, 0), EAFNOSUPPORT);
        CHECK(socket(AF_INET, SOCK_STREAM, 0) >= 0);
        CHECK(prctl(PR_GET_SECCOMP) == 2);
        return count == 2 ? succeed() : 0;
    }
    check_status_of(getpid(), 0, 0);
    CHECK(prctl(PR_GET_SECCOMP) == 0);
    for (int i = 0; i < 300; i++) /* calls that are made often come to the shim by another way */
        rmdir("/tmp/seccomp_errno");
    CHECK(filter_one(SYS_mkdir, SECCOMP_RET_ERRNO | EPERM, 0) == 0);
    check_status_of(getpid(), 2, 1);
    CHECK(prctl(PR_GET_SECCOMP) == 2);
    check_here();
    CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(status_of(check_here) == 0);
    CHECK(IS_MUSL || status_of(check_stat) == 0);
    deny_family(AF_UNIX);
    CHECK(filter_one(SYS_mkdir, SECCOMP_RET_LOG, 0) == 0); /* not as strict: nothing changes */
    CHECK(filter_one(SYS_rmdir, SECCOMP_RET_ERRNO | 0, 0) == 0);
    CHECK(rmdir("/tmp/seccomp_errno") == 0); /* an errno of 0 */
    check_denied();
    CHECK_ERRNO(socket(AF_UNIX, SOCK_STREAM, 0), EAFNOSUPPORT);
    CHECK(filter_one(SYS_rmdir, SECCOMP_RET_TRACE, 0) == 0 && rmdir("/tmp") == 0); /* the errno of 0 is stricter */
    CHECK(filter_one(SYS_getppid, SECCOMP_RET_TRACE, 0) == 0);
    CHECK_ERRNO(syscall(SYS_getppid), ENOSYS);
    CHECK(filter_one(SYS_rmdir, SECCOMP_RET_ERRNO | ENOENT, 0) == 0);
    pid_t child = fork();

    if (child == 0)
        execl("/proc/self/exe", words[0], "again", "child", NULL);
    check_status_of(child, 2, 7);
    CHECK_CHILD(child);
    execl("/proc/self/exe", words[0], "again", NULL);
    return 1;
}
