// rdtsc and rdtscp go forward with the clock, at one rate, whatever the program does with SIGSEGV: block it, ignore it, handle it.
#include "check.h"

#include <setjmp.h>
#include <sys/prctl.h>
#include <x86intrin.h>

static sigjmp_buf before;
static volatile sig_atomic_t faults;

static void on_fault(int number)
{
    faults++;
    siglongjmp(before, number);
}

static uint64_t cycles_of_sleep(int ms)
{
    struct timespec pause = timespec_from(ms * MS);
    uint64_t start = __rdtsc();

    CHECK(nanosleep(&pause, NULL) == 0);
    return __rdtsc() - start;
}

static void check_rate(void)
{
    unsigned processor;
    uint64_t first = __rdtsc(), second = __rdtscp(&processor), third = __rdtsc();
    uint64_t brief = cycles_of_sleep(10), longer = cycles_of_sleep(100);

    CHECK(first < second && second < third);
    CHECK(longer > 2 * brief);
    if (is_emulated()) /* 2 GHz, as /proc/cpuinfo says */
        CHECK(longer >= 200000000 && longer < 210000000);
}

static void check_own_faults(void)
{
    struct sigaction action = {.sa_handler = on_fault}, old;

    CHECK(sigaction(SIGSEGV, &action, &old) == 0 && old.sa_handler == SIG_DFL);
    CHECK(sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_handler == on_fault && (old.sa_flags & SA_SIGINFO) == 0);
    for (int i = 0; i < 3; i++) {
        if (sigsetjmp(before, 1) == 0)
            *(volatile int *)8 = i;
        CHECK(__rdtsc() < __rdtsc());
    }
    CHECK(faults == 3);
    action.sa_flags = SA_RESETHAND;
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    if (sigsetjmp(before, 1) == 0)
        raise(SIGSEGV);
    CHECK(__rdtsc() < __rdtsc());
    CHECK(faults == 4 && sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
}

static void check_blocked_and_ignored(void)
{
    sigset_t all, old;

    sigfillset(&all);
    CHECK(sigprocmask(SIG_SETMASK, &all, &old) == 0 && __rdtsc() < __rdtsc());
    CHECK(sigprocmask(SIG_SETMASK, &old, NULL) == 0);
    signal(SIGSEGV, SIG_IGN);
    CHECK(kill(getpid(), SIGSEGV) == 0 && __rdtsc() < __rdtsc());
}

/* Another image starts with a dynamic loader that reads the counter, and knows what its parent ignored. */
static void check_exec(char *self)
{
    pid_t child = fork();

    if (child == 0) {
        CHECK(__rdtsc() < __rdtsc());
        CHECK_ERRNO(execl("/nonexistent", "nonexistent", NULL), ENOENT);
        CHECK(__rdtsc() < __rdtsc());
        execl(self, self, "again", NULL);
        _exit(1);
    }
    CHECK_CHILD(child);
}

static void check_default(int sent)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        if (sent)
            raise(SIGSEGV);
        else
            *(volatile int *)8 = 1;
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(int argc, char **argv)
{
    int mode = 0;

    if (argc > 1) { /* after exec */
        CHECK(signal(SIGSEGV, SIG_DFL) == SIG_IGN && __rdtsc() < __rdtsc());
        return 0;
    }
    check_rate();
    check_own_faults();
    check_default(0);
    check_default(1);
    check_blocked_and_ignored();
    check_exec(argv[0]);
    CHECK(prctl(PR_GET_TSC, &mode) == 0 && mode == PR_TSC_ENABLE);
    return succeed();
}
