// A tracer sets a breakpoint, steps over it, over a system call, and changes registers; faults and masks of the tracee (ptrace(2)).
#include "check.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

static volatile int calls;

static __attribute__((noinline)) int twice(int number)
{
    calls++;
    return 2 * number;
}

static void tracee(void)
{
    sigset_t all;

    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    sigfillset(&all);
    CHECK(sigprocmask(SIG_BLOCK, &all, NULL) == 0); /* breakpoints work all the same */
    raise(SIGSTOP);
    CHECK(twice(4) == 14); /* the tracer has made 4 a 7 */
    sigemptyset(&all);
    CHECK(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
    __asm__ volatile("syscall; nop; nop" : : "a"(SYS_getpid) : "rcx", "r11", "memory");
    *(volatile int *)8 = 1;
    _exit(1);
}

static void expect_stop(pid_t child, int signal)
{
    int status;

    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == signal && status >> 16 == 0);
}

static void step(pid_t child, struct user_regs_struct *registers)
{
    siginfo_t info;

    CHECK(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0);
    expect_stop(child, SIGTRAP);
    CHECK(ptrace(PTRACE_GETSIGINFO, child, NULL, &info) == 0 && (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT));
    CHECK(ptrace(PTRACE_GETREGS, child, NULL, registers) == 0);
}

int main(void)
{
    struct user_regs_struct registers;
    struct user_fpregs_struct floats;
    struct iovec set = {&registers, sizeof registers};
    siginfo_t info;
    char state[16384]; /* with AMX it has some 11,000 bytes, and only all of them can be set */
    struct iovec wide = {state, sizeof state};
    long word;
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        tracee();
    expect_stop(child, SIGSTOP);
    errno = 0;
    word = ptrace(PTRACE_PEEKTEXT, child, twice, NULL);
    CHECK(errno == 0);
    CHECK(ptrace(PTRACE_POKETEXT, child, twice, (void *)((word & ~0xffL) | 0xcc)) == 0);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    expect_stop(child, SIGTRAP);
    CHECK(ptrace(PTRACE_GETSIGINFO, child, NULL, &info) == 0 && info.si_code == SI_KERNEL);
    CHECK(ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &set) == 0 && set.iov_len == sizeof registers);
    CHECK(registers.rip == (unsigned long)twice + 1 && registers.rdi == 4);
    CHECK(ptrace(PTRACE_POKETEXT, child, twice, (void *)word) == 0);
    registers.rip--;
    registers.rdi = 7;
    CHECK(ptrace(PTRACE_SETREGS, child, NULL, &registers) == 0);
    CHECK(ptrace(PTRACE_GETFPREGS, child, NULL, &floats) == 0 && floats.mxcsr == 0x1f80);
    CHECK(ptrace(PTRACE_SETFPREGS, child, NULL, &floats) == 0);
    CHECK(ptrace(PTRACE_GETREGSET, child, NT_X86_XSTATE, &wide) == 0 && wide.iov_len >= 576);
    CHECK(ptrace(PTRACE_SETREGSET, child, NT_X86_XSTATE, &wide) == 0);
    CHECK((state[464] & 3) == 3); /* x87 and SSE are in use, at the least */
    for (int i = 0; i < 3; i++) {
        unsigned long before = registers.rip;

        step(child, &registers);
        CHECK(registers.rip != before);
    }
    do { /* to the system call, and over it */
        step(child, &registers);
        word = ptrace(PTRACE_PEEKTEXT, child, registers.rip, NULL);
    } while ((word & 0xffff) != 0x050f || registers.rax != SYS_getpid);
    word = (long)registers.rip;
    step(child, &registers);
    CHECK(registers.rip == (unsigned long)word + 2 && (pid_t)registers.rax == child);
    step(child, &registers);
    CHECK(registers.rip != (unsigned long)word + 2);
    CHECK(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
    expect_stop(child, SIGSEGV);
    CHECK(ptrace(PTRACE_GETSIGINFO, child, NULL, &info) == 0 && info.si_code == SEGV_MAPERR && info.si_addr == (void *)8);
    CHECK(ptrace(PTRACE_CONT, child, NULL, (void *)(long)SIGSEGV) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    return succeed();
}
