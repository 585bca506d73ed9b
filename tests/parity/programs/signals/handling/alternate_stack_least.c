// A handler on an alternate stack that has room for its frame and not much more: system calls take no room on it.
#include "check.h"

#include <poll.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static volatile sig_atomic_t done;

static void handler(int number)
{
    struct timespec short_time = {0, 1000000};

    (void)number;
    for (int i = 0; i < 3; i++)
        syscall(SYS_nanosleep, &short_time, NULL);
    syscall(SYS_gettid);
    done = 1;
}

int main(void)
{
    size_t least = getauxval(AT_MINSIGSTKSZ) != 0 ? getauxval(AT_MINSIGSTKSZ) : 2048;
    size_t size = (least + 2048 + 4095) & ~(size_t)4095;
    char *memory = mmap(NULL, 4096 + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = memory + 4096 + size - least - 2048, .ss_size = least + 2048};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

    syscall(SYS_gettid); /* looked up by the loader now, which takes much room */
    CHECK(memory != MAP_FAILED && mprotect(memory, 4096, PROT_NONE) == 0);
    memset(memory + 4096, 0x5a, size);
    CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0 && done == 1);
    for (char *at = memory + 4096; at < (char *)stack.ss_sp; at++)
        CHECK(*at == 0x5a); /* nothing was written below it */
    return succeed();
}
