// A tracer follows forks, vforks and threads of its tracee, which begin stopped, and is told of their ends (PTRACE_SETOPTIONS).
#include "check.h"

#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#define FOLLOW (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXIT)

static void *end(void *argument)
{
    return argument;
}

static void tracee(void)
{
    pthread_t thread;
    pid_t child;

    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    raise(SIGSTOP);
    child = fork();
    if (child == 0)
        _exit(1);
    CHECK(waitpid(child, NULL, 0) == child);
    child = vfork();
    if (child == 0)
        _exit(2);
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(pthread_create(&thread, NULL, end, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    _exit(3);
}

/* Wait for a thread, or any; -1 for any. Returns what waitpid(2) says. */
static pid_t next(pid_t which, int *status)
{
    pid_t found = waitpid(which, status, __WALL);

    CHECK(found > 0);
    return found;
}

static void expect_event(pid_t tid, int event, unsigned long *message)
{
    int status;

    next(tid, &status);
    if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGCHLD) { /* of a child that has ended meanwhile */
        CHECK(ptrace(PTRACE_CONT, tid, NULL, (void *)(long)SIGCHLD) == 0);
        next(tid, &status);
    }
    CHECK(WIFSTOPPED(status) && status >> 8 == (SIGTRAP | event << 8));
    CHECK(ptrace(PTRACE_GETEVENTMSG, tid, NULL, message) == 0);
}

/* The born one stops with SIGSTOP, goes on, and ends with this code; or with that of its group, which may have begun to end. */
static void follow_to_end(pid_t tid, int code, int of_group)
{
    unsigned long message;
    int status;

    CHECK(next(tid, &status) == tid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    CHECK(ptrace(PTRACE_CONT, tid, NULL, NULL) == 0);
    expect_event(tid, PTRACE_EVENT_EXIT, &message);
    CHECK(message == (unsigned long)code << 8);
    CHECK(ptrace(PTRACE_CONT, tid, NULL, NULL) == 0);
    CHECK(next(tid, &status) == tid && WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == code || WEXITSTATUS(status) == of_group);
}

int main(void)
{
    unsigned long born;
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        tracee();
    CHECK(next(child, &status) == child && WSTOPSIG(status) == SIGSTOP);
    CHECK_ERRNO(ptrace(PTRACE_SETOPTIONS, child, NULL, 1L << 30), EINVAL);
    CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, FOLLOW) == 0);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    expect_event(child, PTRACE_EVENT_FORK, &born);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    follow_to_end((pid_t)born, 1, 1);
    expect_event(child, PTRACE_EVENT_VFORK, &born);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    follow_to_end((pid_t)born, 2, 2);
    expect_event(child, PTRACE_EVENT_VFORK_DONE, &born);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    expect_event(child, PTRACE_EVENT_CLONE, &born);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    follow_to_end((pid_t)born, 0, 3);
    expect_event(child, PTRACE_EVENT_EXIT, &born);
    CHECK(born == 3 << 8);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    CHECK(next(child, &status) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    return succeed();
}
