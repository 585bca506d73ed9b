// A handler of SIGSEGV on the alternate stack mends the page, and the program goes on.
#include "check.h"

#include <sys/mman.h>

static char *page;
static volatile sig_atomic_t faults;

static void handler(int number, siginfo_t *info, void *context)
{
    CHECK(number == SIGSEGV && info->si_addr == page && context != NULL);
    CHECK(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
    faults++;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};

    CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGSEGV, &action, NULL) == 0);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    *(volatile char *)page = 5;
    CHECK(faults == 1 && *page == 5);
    sleep_ms(5);
    return succeed();
}
