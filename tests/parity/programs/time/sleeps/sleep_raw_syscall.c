// A sleep that does not go through libc's wrapper is a sleep all the same: by syscall(2), and by the instruction.
// virtual: 10
#include "check.h"

#include <sys/syscall.h>

static long sleep_by_instruction(const struct timespec *wanted)
{
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "0"(SYS_nanosleep), "D"(wanted), "S"(NULL) : "rcx", "r11", "memory");
    return result;
}

int main(void)
{
    const struct timespec five = {.tv_sec = 5};
    int64_t start_ns = now_ns();

    CHECK(syscall(SYS_nanosleep, &five, NULL) == 0);
    CHECK_ELAPSED(start_ns, 5000);
    CHECK(sleep_by_instruction(&five) == 0);
    CHECK_ELAPSED(start_ns, 10000);
    return succeed();
}
