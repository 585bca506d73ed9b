// Traps and wrong instructions: their own signals kill, also where they are ignored or blocked, or are handled; sent ones are as others.
#include "check.h"

#include <setjmp.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

static sigjmp_buf before;
static volatile int taken, code;

static void divide(void)
{
    volatile int ten = 10, zero = 0;

    ten = ten / zero;
}

static void stop(void)
{
    __asm__ volatile("int3");
}

static void wrong(void)
{
    __asm__ volatile("ud2");
}

static const struct {
    int signal;
    void (*make)(void);
} kinds[] = {{SIGFPE, divide}, {SIGTRAP, stop}, {SIGILL, wrong}};

static void take(int signal, siginfo_t *info, void *context)
{
    (void)context;
    taken = signal;
    code = info->si_code;
    if (info->si_code > 0 && signal != SIGTRAP)
        siglongjmp(before, 1);
}

/* How a child ends that does this. */
static int end_of(void (*make)(void), void (*handler)(int), int signal, int blocked)
{
    sigset_t set;
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}) == 0 && sigemptyset(&set) == 0);
        CHECK(sigaddset(&set, signal) == 0 && (!blocked || sigprocmask(SIG_BLOCK, &set, NULL) == 0));
        if (handler != SIG_ERR)
            CHECK(sigaction(signal, &(struct sigaction){.sa_handler = handler}, NULL) == 0);
        make();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void raise_all(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        raise(kinds[i].signal);
}

static void handle(int signal, void (*make)(void), int flags)
{
    struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO | flags}, old;

    CHECK(sigaction(signal, &action, NULL) == 0 && sigaction(signal, NULL, &old) == 0);
    CHECK(old.sa_sigaction == take && (old.sa_flags & SA_SIGINFO) != 0);
    taken = 0;
    if (sigsetjmp(before, 1) == 0)
        make();
    CHECK(taken == signal && code > 0);
    taken = 0;
    CHECK(raise(signal) == 0 && taken == signal && code == SI_TKILL);
    taken = 0;
    CHECK(kill(getpid(), signal) == 0 && taken == signal && code == SI_USER);
}

/* Taken from the queue, in both ways. */
static void wait_for(int signal)
{
    struct signalfd_siginfo record;
    siginfo_t info;
    sigset_t set;
    int file;

    CHECK(sigemptyset(&set) == 0 && sigaddset(&set, signal) == 0 && sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(kill(getpid(), signal) == 0 && sigwaitinfo(&set, &info) == signal && info.si_pid == getpid());
    CHECK(kill(getpid(), signal) == 0 && sigwaitinfo(&set, NULL) == signal);
    file = signalfd(-1, &set, 0);
    CHECK(file >= 0 && kill(getpid(), signal) == 0 && read(file, &record, sizeof record) == sizeof record);
    CHECK(record.ssi_signo == (unsigned)signal && record.ssi_pid == (unsigned)getpid() && close(file) == 0);
    CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
}

int main(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int signal = kinds[i].signal;

        CHECK(end_of(kinds[i].make, SIG_ERR, signal, 0) == signal);
        CHECK(end_of(kinds[i].make, SIG_IGN, signal, 0) == signal);
        CHECK(end_of(kinds[i].make, SIG_ERR, signal, 1) == signal);
        handle(signal, kinds[i].make, 0);
        handle(signal, kinds[i].make, SA_ONSTACK);
        wait_for(signal);
        CHECK(end_of(raise_all, SIG_DFL, signal, 0) == signal); /* the others are handled */
    }
    CHECK(signal(SIGFPE, SIG_IGN) != SIG_ERR && signal(SIGILL, SIG_IGN) != SIG_ERR && signal(SIGTRAP, SIG_IGN) != SIG_ERR);
    raise_all();
    CHECK(system("kill -FPE $$; kill -ILL $$; kill -TRAP $$; exit 3") >> 8 == 3); /* an image inherits what is ignored */
    CHECK(signal(SIGILL, SIG_DFL) == SIG_IGN && system("kill -ILL $$; exit 3") == SIGILL);
    return succeed();
}
