// Every signal's action can be set to ignore and to a handler and read back, but for SIGKILL and SIGSTOP.
#include "check.h"

enum { SA_RESTORER = 0x04000000 }; /* what libc adds for itself */

static void handler(int number)
{
    (void)number;
}

int main(void)
{
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction action = {.sa_handler = SIG_IGN};
        struct sigaction old;

        if (number >= 32 && number < SIGRTMIN)
            continue;
        if (number == SIGKILL || number == SIGSTOP) {
            CHECK_ERRNO(sigaction(number, &action, NULL), EINVAL);
            continue;
        }
        CHECK(sigaction(number, &action, NULL) == 0);
        action.sa_handler = handler;
        action.sa_flags = SA_RESTART | SA_NODEFER;
        sigaddset(&action.sa_mask, SIGHUP);
        CHECK(sigaction(number, &action, &old) == 0 && old.sa_handler == SIG_IGN);
        CHECK(sigaction(number, NULL, &old) == 0 && old.sa_handler == handler);
        CHECK((old.sa_flags & ~SA_RESTORER) == (SA_RESTART | SA_NODEFER) && sigismember(&old.sa_mask, SIGHUP) == 1);
    }
    sleep_ms(5);
    return succeed();
}
