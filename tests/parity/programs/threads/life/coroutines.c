// Coroutines by swapcontext, on stacks of their own, sleep in turns.
#include "check.h"

#include <ucontext.h>

static ucontext_t scheduler, coroutines[3];
static char stacks[3][1 << 16];
static int steps;

static void body(int number)
{
    for (int step = 0; step < 4; step++) {
        CHECK(steps++ == 3 * step + number);
        sleep_ms(2);
        CHECK(swapcontext(&coroutines[number], &scheduler) == 0);
    }
}

int main(void)
{
    int64_t start_ns = now_ns();

    for (int i = 0; i < 3; i++) {
        CHECK(getcontext(&coroutines[i]) == 0);
        coroutines[i].uc_stack.ss_sp = stacks[i];
        coroutines[i].uc_stack.ss_size = sizeof stacks[i];
        coroutines[i].uc_link = &scheduler;
        makecontext(&coroutines[i], (void (*)(void))body, 1, i);
    }
    for (int turn = 0; turn < 15; turn++)
        CHECK(swapcontext(&scheduler, &coroutines[turn % 3]) == 0);
    CHECK(steps == 12);
    CHECK_ELAPSED(start_ns, 24);
    return succeed();
}
