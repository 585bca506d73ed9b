// The mask of blocked signals survives an exec, with every signal that can be blocked, also those of faults.
#include "check.h"

static void compare(const sigset_t *left, const sigset_t *right)
{
    for (int number = 1; number < 65; number++)
        if (number != 32 && number != 33) /* of the threads library, which keeps them to itself */
            CHECK(sigismember(left, number) == sigismember(right, number));
}

int main(int count, char **words)
{
    sigset_t full, mask;

    sigfillset(&full);
    sigdelset(&full, SIGKILL);
    sigdelset(&full, SIGSTOP);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0);
    if (count == 1) {
        CHECK(sigismember(&mask, SIGSEGV) == 0);
        CHECK(sigprocmask(SIG_SETMASK, &full, NULL) == 0);
        execl("/proc/self/exe", words[0], "full", NULL);
        CHECK(!"no exec");
    }
    if (count == 2) {
        compare(&mask, &full);
        sigemptyset(&mask);
        sigaddset(&mask, SIGSEGV);
        CHECK(sigprocmask(SIG_SETMASK, &mask, NULL) == 0);
        execl("/no/such/program", words[0], NULL); /* one that fails changes nothing */
        execl("/proc/self/exe", words[0], "one", "signal", NULL);
        CHECK(!"no exec");
    }
    for (int number = 1; number < 65; number++)
        CHECK(number == 32 || number == 33 || sigismember(&mask, number) == (number == SIGSEGV));
    return succeed();
}
