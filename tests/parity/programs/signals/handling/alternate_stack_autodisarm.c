// SS_AUTODISARM: while a handler runs on the alternate stack there is none, so that it may set another; its return brings the
// first one back. What a handler sets without that flag lasts only until it returns, too.
#include "check.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif
#define SIZE 16384

static char first[SIZE], second[SIZE];
static volatile sig_atomic_t count;

static void inner(int number)
{
    char here;

    CHECK(number == SIGUSR2 && &here >= second && &here < second + SIZE);
    count++;
}

static void outer(int number)
{
    stack_t other = {.ss_sp = second, .ss_size = SIZE};
    stack_t now;
    char here;

    CHECK(number == SIGUSR1 && &here >= first && &here < first + SIZE);
    CHECK(sigaltstack(&other, &now) == 0 && now.ss_flags == SS_DISABLE && now.ss_size == 0);
    CHECK(raise(SIGUSR2) == 0);
    count++;
}

int main(void)
{
    stack_t wanted = {.ss_sp = first, .ss_size = SIZE, .ss_flags = (int)SS_AUTODISARM};
    struct sigaction action = {.sa_handler = outer, .sa_flags = SA_ONSTACK};
    stack_t now;

    CHECK(sigaltstack(&wanted, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_handler = inner;
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    for (int i = 1; i <= 3; i++) {
        CHECK(raise(SIGUSR1) == 0 && count == 2 * i);
        CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == first && now.ss_size == SIZE && now.ss_flags == (int)SS_AUTODISARM);
    }
    return succeed();
}
