// clone and clone3 with stacks of their own: with and without the creator's memory and descriptors, as a child of the creator's
// parent, with a pidfd; the child ends by returning from its function.
#include "check.h"

#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define SIZE 65536

static char stack[SIZE] __attribute__((aligned(64)));
static int forth[2], back[2];
static volatile int shared;
static volatile int opened;

static void expect_status(pid_t child, int options, int wanted)
{
    int status;

    CHECK(waitpid(child, &status, options) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == wanted);
}

static int return_seven(void *argument)
{
    char here;

    CHECK(&here >= stack && &here < stack + SIZE);
    CHECK(*(int *)argument == 42 && getpid() != getppid());
    shared = 1;
    sleep_ms(5);
    return 7;
}

static int talk(void *unused)
{
    char byte = 'a';

    (void)unused;
    shared = 2;
    CHECK(write(forth[1], &byte, 1) == 1);
    CHECK(read(back[0], &byte, 1) == 1 && byte == 'b');
    CHECK(shared == 3);
    opened = open("/dev/null", O_RDONLY);
    CHECK(opened >= 0);
    sleep_ms(10);
    return 3;
}

static int have_brother(void *argument)
{
    pid_t brother = clone(return_seven, stack + SIZE, CLONE_PARENT | SIGCHLD, argument);

    CHECK(brother > 0 && write(forth[1], &brother, sizeof brother) == sizeof brother);
    CHECK_ERRNO(waitpid(brother, NULL, 0), ECHILD);
    return 5;
}

static void check_talk(int flags)
{
    char byte = 'b';
    pid_t child = clone(talk, stack + SIZE, flags | SIGCHLD, NULL);

    CHECK(child > 0);
    CHECK(read(forth[0], &byte, 1) == 1 && byte == 'a' && shared == 2);
    shared = 3;
    byte = 'b';
    CHECK(write(back[1], &byte, 1) == 1);
    expect_status(child, 0, 3);
    CHECK(opened >= 0 && (fcntl(opened, F_GETFD) >= 0) == ((flags & CLONE_FILES) != 0));
}

static void check_clone3(void)
{
    struct clone_args args = {.flags = CLONE_PIDFD, .exit_signal = SIGCHLD};
    int pidfd = -1;
    struct pollfd entry;
    long child;

    args.pidfd = (uintptr_t)&pidfd;
    child = syscall(SYS_clone3, &args, sizeof args);
    if (child == 0) {
        sleep_ms(5);
        _exit(9);
    }
    entry = (struct pollfd){.fd = pidfd, .events = POLLIN};
    CHECK(child > 0 && pidfd >= 0);
    CHECK(poll(&entry, 1, 0) == 0 && poll(&entry, 1, -1) == 1);
    expect_status((pid_t)child, 0, 9);
    CHECK(close(pidfd) == 0);

    args = (struct clone_args){.exit_signal = SIGCHLD, .stack = (uintptr_t)stack};
    CHECK_ERRNO(syscall(SYS_clone3, &args, sizeof args), EINVAL);
    args = (struct clone_args){.exit_signal = SIGCHLD, .stack_size = SIZE};
    CHECK_ERRNO(syscall(SYS_clone3, &args, sizeof args), EINVAL);
    args = (struct clone_args){.exit_signal = 200};
    CHECK_ERRNO(syscall(SYS_clone3, &args, sizeof args), EINVAL);
    args = (struct clone_args){.exit_signal = SIGCHLD};
    CHECK_ERRNO(syscall(SYS_clone3, &args, 8), EINVAL);
    CHECK_ERRNO(syscall(SYS_clone3, &args, 8192), E2BIG);
    args = (struct clone_args){.flags = CLONE_THREAD, .exit_signal = SIGCHLD};
    CHECK_ERRNO(syscall(SYS_clone3, &args, sizeof args), EINVAL);
    args = (struct clone_args){.flags = CLONE_SIGHAND, .exit_signal = SIGCHLD};
    CHECK_ERRNO(syscall(SYS_clone3, &args, sizeof args), EINVAL);
}

int main(void)
{
    int argument = 42;
    pid_t child, brother, parent_tid = 0;

    CHECK(pipe(forth) == 0 && pipe(back) == 0);
    for (int round = 0; round < 3; round++) {
        shared = 0;
        child = clone(return_seven, stack + SIZE, CLONE_PARENT_SETTID | SIGCHLD, &argument, &parent_tid);
        CHECK(child > 0 && parent_tid == child);
        expect_status(child, 0, 7);
        CHECK(shared == 0);

        child = clone(return_seven, stack + SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD, &argument);
        CHECK(child > 0 && shared == 1);
        expect_status(child, 0, 7);

        check_talk(CLONE_VM);
        check_talk(CLONE_VM | CLONE_FILES | CLONE_FS);
        check_talk(CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_SIGHAND);

        child = clone(return_seven, stack + SIZE, 0, &argument); /* tells nobody of its end */
        CHECK_ERRNO(waitpid(child, NULL, 0), ECHILD);
        expect_status(child, __WCLONE, 7);

        child = fork();
        if (child == 0)
            _exit(have_brother(&argument));
        CHECK(read(forth[0], &brother, sizeof brother) == sizeof brother);
        expect_status(child, 0, 5);
        expect_status(brother, 0, 7);
    }
    check_clone3();
    return succeed();
}
