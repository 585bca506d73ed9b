// A handler with SA_ONSTACK runs on the alternate stack, sleeps there, and sigaltstack tells so.
#include "check.h"

static char stack[1 << 16];
static volatile sig_atomic_t done;

static void handler(int number)
{
    stack_t now;
    char here;

    CHECK(number == SIGUSR1);
    CHECK(&here >= stack && &here < stack + sizeof stack);
    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == stack && (now.ss_flags & SS_ONSTACK));
    sleep_ms(10);
    done = 1;
}

int main(void)
{
    stack_t wanted = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    stack_t old;

    CHECK(sigaltstack(NULL, &old) == 0 && old.ss_flags == SS_DISABLE);
    CHECK(sigaltstack(&wanted, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0 && done == 1);
    CHECK(sigaltstack(NULL, &old) == 0 && old.ss_sp == stack && old.ss_size == sizeof stack && old.ss_flags == 0);
    return succeed();
}
