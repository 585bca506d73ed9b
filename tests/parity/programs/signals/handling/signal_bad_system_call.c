// SIGSYS that somebody sends: it kills by default, is ignored, and enters a handler with what was sent, on the stack and with the
// mask that the handler asked for.
#include "check.h"

static char alternate[16384];
static volatile sig_atomic_t count;

static void handler(int number, siginfo_t *info, void *context)
{
    char here;
    sigset_t mask;

    CHECK(number == SIGSYS && info->si_value.sival_int == 7 && context != NULL);
    CHECK(&here >= alternate && &here < alternate + sizeof alternate);
    CHECK(sigprocmask(SIG_SETMASK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR1) == 1 && sigismember(&mask, SIGUSR2) == 0);
    sleep_ms(3);
    count++;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction old;
    sigset_t mask;
    int status;
    pid_t child;

    CHECK(sigaddset(&action.sa_mask, SIGUSR1) == 0);
    CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGSYS, &action, &old) == 0 && old.sa_handler == SIG_DFL);
    for (int i = 1; i <= 3; i++)
        CHECK(sigqueue(getpid(), SIGSYS, (union sigval){.sival_int = 7}) == 0 && count == i);
    CHECK(sigprocmask(SIG_SETMASK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR1) == 0);
    CHECK(sigaction(SIGSYS, NULL, &old) == 0 && old.sa_sigaction == handler);
    CHECK(signal(SIGSYS, SIG_IGN) != SIG_ERR && raise(SIGSYS) == 0 && count == 3);
    child = fork();
    if (child == 0) {
        signal(SIGSYS, SIG_DFL);
        raise(SIGSYS);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
    return succeed();
}
