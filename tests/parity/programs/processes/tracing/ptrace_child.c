// A parent traces its child: signals, memory, registers, system calls, an exec, the end (ptrace(2)).
#include "check.h"

#include <sys/ptrace.h>
#include <sys/reg.h>
#include <sys/syscall.h>
#include <sys/user.h>

static volatile long number = 5;

static int stopped(pid_t child, int signal)
{
    int status;

    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSTOPPED(status));
    return WSTOPSIG(status) == signal ? status >> 16 : -1;
}

static void traced(const char *self)
{
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    raise(SIGSTOP);
    CHECK(number == 6);
    CHECK(syscall(SYS_getppid) == 77);
    CHECK(kill(getpid(), SIGUSR1) == 0); /* the tracer takes it */
    execl(self, self, "again", NULL);
    _exit(1);
}

/* Continue to the next stop at a system call of this number. */
static void to_call(pid_t child, long wanted, struct user_regs_struct *registers)
{
    do {
        CHECK(ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0);
        CHECK(stopped(child, SIGTRAP | 0x80) == 0);
        CHECK(ptrace(PTRACE_GETREGS, child, NULL, registers) == 0);
    } while ((long)registers->orig_rax != wanted);
}

int main(int argc, char **argv)
{
    struct user_regs_struct registers;
    siginfo_t info;
    unsigned long message = 0;
    pid_t child;
    int status;

    if (argc > 1) {
        usleep(1000);
        return 7;
    }
    fflush(stdout);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        traced(argv[0]);
    CHECK_ERRNO(ptrace(PTRACE_PEEKDATA, getpid(), &number, NULL), ESRCH);
    CHECK(stopped(child, SIGSTOP) == 0);
    CHECK(waitpid(child, &status, WNOHANG) == 0);
    CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC) == 0);
    CHECK(ptrace(PTRACE_GETSIGINFO, child, NULL, &info) == 0 && info.si_signo == SIGSTOP);
    CHECK(ptrace(PTRACE_PEEKDATA, child, &number, NULL) == 5);
    CHECK(ptrace(PTRACE_POKEDATA, child, &number, 6L) == 0);
    CHECK(ptrace(PTRACE_PEEKDATA, child, &number, NULL) == 6);
    CHECK_ERRNO(ptrace(PTRACE_PEEKDATA, child, 8, NULL), EIO);
    to_call(child, SYS_getppid, &registers);
    CHECK((long)registers.rax == -ENOSYS);
    CHECK(ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0);
    CHECK_ERRNO(ptrace(PTRACE_GETREGS, child, NULL, &registers), ESRCH);
    CHECK(stopped(child, SIGTRAP | 0x80) == 0);
    CHECK(ptrace(PTRACE_PEEKUSER, child, 8 * ORIG_RAX, NULL) == SYS_getppid);
    CHECK(ptrace(PTRACE_PEEKUSER, child, 8 * RAX, NULL) == getpid());
    CHECK(ptrace(PTRACE_POKEUSER, child, 8 * RAX, 77L) == 0);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    CHECK(stopped(child, SIGUSR1) == 0);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    CHECK(stopped(child, SIGTRAP) == PTRACE_EVENT_EXEC);
    CHECK(ptrace(PTRACE_GETEVENTMSG, child, NULL, &message) == 0 && (pid_t)message == child);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK_ERRNO(waitpid(child, &status, 0), ECHILD);
    return succeed();
}
