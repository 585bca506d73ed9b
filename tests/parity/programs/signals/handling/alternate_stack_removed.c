// What Rust's runtime does: an alternate stack for SIGSEGV at the start, disabled and unmapped at the return from main. One that
// is set may be replaced and unmapped, too.
// musl: no (musl checks sigaltstack by itself)
#include "check.h"

#include <sys/mman.h>

#define SIZE 16384

static volatile sig_atomic_t count;
static char *expected;

static void handler(int number)
{
    char here;

    CHECK(number == SIGUSR1 && &here >= expected && &here < expected + SIZE);
    count++;
}

static char *new_stack(void)
{
    char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(stack != MAP_FAILED);
    return stack;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    stack_t off = {.ss_flags = SS_DISABLE, .ss_size = SIZE};
    stack_t first = {.ss_sp = new_stack(), .ss_size = SIZE};
    stack_t second = {.ss_sp = new_stack(), .ss_size = SIZE};
    stack_t third = {.ss_sp = new_stack(), .ss_size = SIZE};
    stack_t old;

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(sigaltstack(&first, NULL) == 0);
    expected = first.ss_sp;
    CHECK(raise(SIGUSR1) == 0 && count == 1);

    CHECK(sigaltstack(&second, &old) == 0 && old.ss_sp == first.ss_sp && old.ss_size == SIZE && old.ss_flags == 0);
    CHECK(munmap(first.ss_sp, SIZE) == 0);
    expected = second.ss_sp;
    CHECK(raise(SIGUSR1) == 0 && count == 2);

    CHECK(munmap(second.ss_sp, SIZE) == 0); /* nobody needs it until a handler does */
    CHECK(sigaltstack(&third, NULL) == 0);
    expected = third.ss_sp;
    CHECK(raise(SIGUSR1) == 0 && count == 3);

    CHECK(sigaltstack(&off, NULL) == 0);
    CHECK(sigaltstack(NULL, &old) == 0 && old.ss_flags == SS_DISABLE && old.ss_sp == NULL && old.ss_size == 0);
    CHECK(munmap(third.ss_sp, SIZE) == 0);

    third.ss_size = 100;
    CHECK_ERRNO(sigaltstack(&third, NULL), ENOMEM);
    third.ss_flags = 77;
    CHECK_ERRNO(sigaltstack(&third, NULL), EINVAL);
    return succeed();
}
