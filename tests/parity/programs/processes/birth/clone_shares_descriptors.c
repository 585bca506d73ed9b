// Processes with memory of their own and one table of descriptors (CLONE_FILES): what one opens and closes, the other sees, until it
// has a table of its own again; death and exec of one leave the other its descriptors.
#include "check.h"

#include <linux/close_range.h>
#include <sched.h>
#include <sys/syscall.h>

static pid_t clone_sharing(void)
{
    pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

    CHECK(child >= 0);
    return child;
}

static int is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static int opened(void)
{
    int fd = open("/", O_RDONLY);

    CHECK(fd >= 0);
    return fd;
}

static void check_closing(void)
{
    int fd = opened();
    pid_t child = clone_sharing();

    if (child == 0) {
        sleep_ms(5);
        CHECK(close(fd) == 0);
        _exit(opened() == fd ? 0 : 1);
    }
    CHECK(is_open(fd));
    CHECK_CHILD(child);
    CHECK(is_open(fd) && close(fd) == 0); /* the one that the child has opened */
}

static void check_close_range(unsigned flags, int stays_open)
{
    int fd = opened();
    pid_t child = clone_sharing();

    if (child == 0) {
        CHECK(syscall(SYS_close_range, 3, ~0U, flags) == 0);
        CHECK(is_open(fd) == ((flags & CLOSE_RANGE_CLOEXEC) != 0));
        sleep_ms(1);
        _exit(0);
    }
    CHECK_CHILD(child);
    CHECK(is_open(fd) == stays_open);
    close(fd);
}

static void check_unshare(void)
{
    int fd = opened();
    pid_t child = clone_sharing();

    if (child == 0) {
        CHECK(unshare(CLONE_FILES) == 0 && close(fd) == 0);
        _exit(0);
    }
    CHECK_CHILD(child);
    CHECK(is_open(fd) && close(fd) == 0);
}

/* Both wait, and talk by a pipe, after which one is killed. */
static void check_talking(void)
{
    int forth[2], back[2];
    char byte = 0;
    pid_t child;
    int status;

    CHECK(pipe(forth) == 0 && pipe(back) == 0);
    child = clone_sharing();
    if (child == 0) {
        CHECK(read(forth[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1);
        sleep_ms(1000);
        _exit(1);
    }
    sleep_ms(2);
    CHECK(write(forth[1], "x", 1) == 1 && read(back[0], &byte, 1) == 1 && byte == 'x');
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
    for (int i = 0; i < 2; i++)
        CHECK(close(forth[i]) == 0 && close(back[i]) == 0);
}

static void check_exec(void)
{
    int fd = opened();
    pid_t child = clone_sharing();

    if (child == 0) {
        execl("/no/such/program", "x", NULL);
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    CHECK_CHILD(child);
    CHECK(is_open(fd) && close(fd) == 0);
    child = fork();
    if (child == 0) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    CHECK_CHILD(child);
}

static void check_arguments(void)
{
    CHECK_ERRNO(syscall(SYS_close_range, 4, 3, 0), EINVAL);
    CHECK_ERRNO(syscall(SYS_close_range, 3, 3, 1), EINVAL);
    CHECK_ERRNO(syscall(SYS_close_range, 1U << 20, ~0U, 8), EINVAL);
    CHECK(syscall(SYS_close_range, 1U << 20, ~0U, CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC) == 0);
}

int main(void)
{
    check_arguments();
    check_closing();
    check_close_range(0, 0);
    check_close_range(CLOSE_RANGE_UNSHARE, 1);
    check_close_range(CLOSE_RANGE_CLOEXEC, 1);
    check_unshare();
    check_talking();
    check_exec();
    sleep_ms(5);
    return succeed();
}
