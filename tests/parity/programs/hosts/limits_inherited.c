// Limits are a process's own, go to its children and through exec, and bite: of processes, of file size; personality is kept.
#include "check.h"

#include <sys/personality.h>
#include <sys/resource.h>

static struct rlimit limit_of(int resource)
{
    struct rlimit limit;

    CHECK(getrlimit(resource, &limit) == 0);
    return limit;
}

static void in_child(void (*run)(void))
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        run();
        _exit(0);
    }
    CHECK_CHILD(child);
}

static void writes_too_much(void)
{
    int file = open("limits_inherited.file", O_CREAT | O_RDWR | O_TRUNC, 0600);
    char block[100] = {0};

    CHECK(limit_of(RLIMIT_FSIZE).rlim_cur == 150 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK(write(file, block, 100) == 100 && write(file, block, 100) == 50);
    CHECK_ERRNO(write(file, block, 100), EFBIG);
    CHECK(close(file) == 0 && unlink("limits_inherited.file") == 0);
}

static void told_by_signal(void)
{
    pid_t child = fork();
    int status;

    CHECK(child >= 0);
    if (child == 0) {
        int file = open("limits_inherited.file", O_CREAT | O_RDWR | O_TRUNC, 0600);

        CHECK(ftruncate(file, 1000) == -1);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
    CHECK(unlink("limits_inherited.file") == 0);
}

static void through_exec(void)
{
    CHECK(limit_of(RLIMIT_CORE).rlim_cur == 0);
    execlp("sh", "sh", "-c", "test $(ulimit -c) = 0 && test $(ulimit -n) = 64", (char *)NULL);
    _exit(1);
}

int main(void)
{
    struct rlimit files = {64, limit_of(RLIMIT_NOFILE).rlim_max}, none = {0, 0};
    struct rlimit size = {150, limit_of(RLIMIT_FSIZE).rlim_max};
    int persona = personality(0xffffffff);

    CHECK(persona >= 0 && personality((unsigned long)persona) == persona);
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0 && setrlimit(RLIMIT_CORE, &none) == 0);
    in_child(through_exec);
    CHECK(setrlimit(RLIMIT_FSIZE, &size) == 0);
    in_child(writes_too_much);
    in_child(told_by_signal);
    none.rlim_max = 1;
    CHECK(geteuid() == 0 || setrlimit(RLIMIT_CORE, &none) == -1);
    return succeed();
}
