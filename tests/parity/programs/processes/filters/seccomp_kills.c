// Filters that kill: the process, or its thread; SIGSYS for a handler, which may give the call a result; the strict mode.
// musl: no (musl's pthread_join waits for what an ended thread writes, which a killed one does not)
#include "seccomp.h"

#include <pthread.h>
#include <ucontext.h>

static volatile sig_atomic_t handled;

static void call_denied(void)
{
    syscall(SYS_getppid);
}

static void kill_process(void)
{
    CHECK(filter_one(SYS_getppid, SECCOMP_RET_KILL_PROCESS, 0) == 0);
    call_denied();
}

static void kill_thread(void)
{
    CHECK(filter_one(SYS_getppid, SECCOMP_RET_KILL_THREAD, 0) == 0);
    call_denied();
}

static void *in_thread(void *unused)
{
    kill_thread();
    _exit(1);
    return unused;
}

static void kill_other_thread(void)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    call_denied(); /* the filter was that thread's alone */
    _exit(6);
}

static void handler(int number, siginfo_t *info, void *context)
{
    ucontext_t *frame = context;

    CHECK(number == SIGSYS && info->si_code == 1 && info->si_syscall == SYS_getppid && info->si_errno == 9);
    CHECK(info->si_arch == AUDIT_ARCH_X86_64 && frame->uc_mcontext.gregs[REG_RAX] == SYS_getppid);
    CHECK((greg_t)info->si_call_addr == frame->uc_mcontext.gregs[REG_RIP]);
    frame->uc_mcontext.gregs[REG_RAX] = 4711;
    handled++;
}

static void trap(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

    CHECK(sigaction(SIGSYS, &action, NULL) == 0);
    CHECK(filter_one(SYS_getppid, SECCOMP_RET_TRAP | 9, 0) == 0);
    CHECK(syscall(SYS_getppid) == 4711 && handled == 1);
    CHECK(getppid() == 4711 && handled == 2);
}

static void trap_without_handler(void)
{
    CHECK(filter_one(SYS_getppid, SECCOMP_RET_TRAP, 0) == 0);
    call_denied();
}

static void trap_blocked(void)
{
    sigset_t set;

    trap();
    sigemptyset(&set);
    sigaddset(&set, SIGSYS);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    call_denied();
}

static void trap_ignored(void)
{
    CHECK(signal(SIGSYS, SIG_IGN) != SIG_ERR);
    trap_without_handler();
}

static void strict_exit(void)
{
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
    CHECK(write(STDERR_FILENO, "", 0) == 0);
    syscall(SYS_exit, 5);
}

static void strict_killed(void)
{
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) == 0);
    call_denied();
}

static int dies_of(void (*what)(void))
{
    int status = status_of(what);

    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

int main(void)
{
    CHECK(dies_of(kill_process) == SIGSYS);
    CHECK(dies_of(kill_thread) == SIGSYS);
    CHECK(dies_of(kill_other_thread) == -6);
    CHECK(dies_of(trap) == 0);
    CHECK(dies_of(trap_without_handler) == SIGSYS);
    CHECK(dies_of(trap_blocked) == SIGSYS);
    CHECK(dies_of(trap_ignored) == SIGSYS);
    CHECK(dies_of(strict_exit) == -5);
    CHECK(dies_of(strict_killed) == SIGKILL);
    CHECK(prctl(PR_GET_SECCOMP) == 0);
    return succeed();
}
