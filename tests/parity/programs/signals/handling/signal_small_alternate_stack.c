// A handler on an alternate stack of the recommended size sleeps and polls there.
#include "check.h"

#include <poll.h>

static volatile sig_atomic_t done;

static void handler(int number)
{
    CHECK(number == SIGUSR1);
    sleep_ms(5);
    CHECK(poll(NULL, 0, 5) == 0);
    done = 1;
}

int main(void)
{
    stack_t stack = {.ss_size = SIGSTKSZ};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    int64_t start_ns = now_ns();

    stack.ss_sp = malloc(stack.ss_size);
    CHECK(stack.ss_sp != NULL && sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0 && done == 1);
    CHECK_ELAPSED(start_ns, 10);
    return succeed();
}
