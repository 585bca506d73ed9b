// Every flag of sigaction(2), alone and together with SA_ONSTACK: SA_RESETHAND, SA_NODEFER, SA_RESTART, masks; and what sigaction
// tells of it afterwards, of each signal.
// musl: no (musl keeps its own signals from sigaction)
#include "check.h"

#include <sys/syscall.h>

static char alternate[65536];
static volatile sig_atomic_t depth, deepest, blocked_own, blocked_other, calls;
static int number_of_test;

static void handler(int number)
{
    sigset_t mask;

    CHECK(number == number_of_test);
    CHECK(sigprocmask(SIG_SETMASK, NULL, &mask) == 0);
    blocked_own = sigismember(&mask, number);
    blocked_other = sigismember(&mask, SIGWINCH);
    depth++;
    calls++;
    if (depth > deepest)
        deepest = depth;
    if (depth < 3 && calls == depth)
        raise(number);
    depth--;
}

static void handler_with_info(int number, siginfo_t *info, void *context)
{
    CHECK(info->si_signo == number && context != NULL);
    handler(number);
}

static void check_flags(int number, int flags)
{
    struct sigaction action = {.sa_flags = flags}, old, restored;
    int nodefer = (flags & SA_NODEFER) != 0, reset = (flags & SA_RESETHAND) != 0;

    number_of_test = number;
    depth = deepest = calls = 0;
    if ((flags & SA_SIGINFO) != 0)
        action.sa_sigaction = handler_with_info;
    else
        action.sa_handler = handler;
    CHECK(sigaddset(&action.sa_mask, SIGWINCH) == 0);
    CHECK(sigaction(number, &action, &old) == 0);
    CHECK(sigaction(number, NULL, &restored) == 0);
    CHECK((restored.sa_flags & ~0x04000000) == flags && sigismember(&restored.sa_mask, SIGWINCH) == 1);
    CHECK(restored.sa_handler == action.sa_handler);
    if (reset && nodefer)
        calls = 10; /* must not raise itself again: the second would kill */
    CHECK(raise(number) == 0);
    CHECK(blocked_own == !nodefer && blocked_other == 1);
    if (!reset)
        CHECK(calls == (nodefer ? 3 : 2) && deepest == (nodefer ? 3 : 1));
    CHECK(sigaction(number, NULL, &restored) == 0);
    CHECK((restored.sa_handler == SIG_DFL) == reset);
    CHECK(sigaction(number, &old, NULL) == 0);
}

static void check_all_flags(int number)
{
    static const int flags[] = {SA_SIGINFO, SA_NODEFER, SA_ONSTACK, SA_RESTART};

    for (int set = 0; set < 16; set++) {
        int chosen = 0;

        for (int i = 0; i < 4; i++)
            if (set >> i & 1)
                chosen |= flags[i];
        check_flags(number, chosen);
    }
    check_flags(number, (int)SA_RESETHAND | SA_NODEFER);
    check_flags(number, (int)SA_RESETHAND | SA_NODEFER | SA_ONSTACK | SA_SIGINFO);
}

int main(void)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_handler = SIG_IGN}, old;
    sigset_t all, now;

    CHECK(sigaltstack(&stack, NULL) == 0);
    for (int number = 1; number <= 64; number++) {
        if (number == SIGWINCH || number == SIGKILL || number == SIGSTOP || number == 32 || number == 33)
            continue;
        check_all_flags(number);
    }
    for (int number = 1; number <= 64; number++) {
        int fixed = number == SIGKILL || number == SIGSTOP || number == 32 || number == 33;

        CHECK((sigaction(number, &action, NULL) == 0) == !fixed);
        if (!fixed) {
            CHECK(sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN);
            CHECK(raise(number) == 0);
        }
    }
    CHECK(sigfillset(&all) == 0 && sigprocmask(SIG_BLOCK, &all, &now) == 0 && sigisemptyset(&now));
    CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0);
    for (int number = 1; number <= 64; number++)
        if (number != 32 && number != 33)
            CHECK(sigismember(&now, number) == (number != SIGKILL && number != SIGSTOP));
    CHECK_ERRNO(syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 4), EINVAL);
    CHECK_ERRNO(syscall(SYS_rt_sigaction, 0, NULL, NULL, 8), EINVAL);
    CHECK_ERRNO(syscall(SYS_rt_sigaction, 65, NULL, NULL, 8), EINVAL);
    CHECK_ERRNO(syscall(SYS_rt_sigprocmask, 77, &all, NULL, 8), EINVAL);
    CHECK(syscall(SYS_rt_sigprocmask, 77, NULL, &now, 8) == 0);
    return succeed();
}
