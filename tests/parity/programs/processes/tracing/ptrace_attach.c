// A running process is attached to, stopped, let go, signalled and detached from; a tracer that dies lets its tracee run on.
#include "check.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

static volatile sig_atomic_t seen;

static void note(int signal)
{
    seen = signal;
}

static pid_t sleeper(void)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child != 0) {
        sleep_ms(20);
        return child;
    }
    signal(SIGUSR1, note);
    while (seen == 0)
        sleep_ms(10);
    CHECK(seen == SIGUSR1);
    _exit(9);
}

static void expect_stop(pid_t child, int signal)
{
    int status;

    CHECK(waitpid(child, &status, __WALL) == child);
    CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == signal && status >> 16 == 0);
}

static void expect_end(pid_t child, int code)
{
    int status;

    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == code);
}

static void attach_and_detach(void)
{
    struct user_regs_struct registers;
    siginfo_t info;
    pid_t child = sleeper();

    CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0);
    CHECK_ERRNO(ptrace(PTRACE_ATTACH, child, NULL, NULL), EPERM);
    memset(&info, 0, sizeof info);
    CHECK(waitid(P_PID, (id_t)child, &info, WSTOPPED | __WALL) == 0);
    CHECK(info.si_pid == child && info.si_code == CLD_TRAPPED && info.si_status == SIGSTOP);
    CHECK(ptrace(PTRACE_GETREGS, child, NULL, &registers) == 0 && registers.rip != 0);
    CHECK(kill(child, SIGUSR1) == 0);
    sleep_ms(30); /* it stays stopped */
    CHECK(waitpid(child, NULL, WNOHANG) == 0);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    expect_stop(child, SIGUSR1);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0); /* the signal is dropped */
    sleep_ms(30);
    CHECK(waitpid(child, NULL, WNOHANG) == 0);
    CHECK(syscall(SYS_tgkill, child, child, SIGSTOP) == 0);
    expect_stop(child, SIGSTOP);
    CHECK(ptrace(PTRACE_DETACH, child, NULL, (void *)(long)SIGUSR1) == 0);
    CHECK_ERRNO(ptrace(PTRACE_CONT, child, NULL, NULL), ESRCH);
    expect_end(child, 9);
}

static void a_tracer_dies(void)
{
    pid_t child = sleeper();
    pid_t tracer = fork();

    CHECK(tracer >= 0);
    if (tracer == 0) {
        CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0);
        expect_stop(child, SIGSTOP);
        _exit(1);
    }
    expect_end(tracer, 1);
    CHECK(kill(child, SIGUSR1) == 0);
    expect_end(child, 9);
}

static void a_tracee_of_another_dies(void)
{
    pid_t child = sleeper();
    pid_t tracer = fork();
    int status;

    CHECK(tracer >= 0);
    if (tracer == 0) {
        CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0);
        expect_stop(child, SIGSTOP);
        CHECK(ptrace(PTRACE_CONT, child, NULL, (void *)(long)SIGTERM) == 0);
        CHECK(waitpid(child, &status, __WALL) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        CHECK_ERRNO(waitpid(child, &status, __WALL), ECHILD);
        _exit(2);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    expect_end(tracer, 2);
}

static void a_tracee_dies_with_its_tracer(void)
{
    pid_t child = sleeper();
    pid_t tracer = fork();
    int status;

    CHECK(tracer >= 0);
    if (tracer == 0) {
        CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0);
        expect_stop(child, SIGSTOP);
        CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL) == 0);
        CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    expect_end(tracer, 1);
}

static void a_tracee_is_killed(void)
{
    pid_t child = sleeper();
    int status;

    CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0);
    expect_stop(child, SIGSTOP);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

int main(void)
{
    CHECK_ERRNO(ptrace(PTRACE_ATTACH, getpid(), NULL, NULL), EPERM);
    CHECK_ERRNO(ptrace(PTRACE_ATTACH, 999999, NULL, NULL), ESRCH);
    attach_and_detach();
    a_tracer_dies();
    a_tracee_of_another_dies();
    a_tracee_dies_with_its_tracer();
    a_tracee_is_killed();
    return succeed();
}
