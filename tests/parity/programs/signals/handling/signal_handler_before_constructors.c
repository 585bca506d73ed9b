// A handler that was installed before any constructor ran, as older C libraries install those of their threads, works like others.
// musl: no (musl gives constructors no arguments)
#include "check.h"

#include <sys/syscall.h>

#define MASK_BYTES 8

struct raw_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static volatile sig_atomic_t count;

static void note(int signal)
{
    (void)signal;
    count++;
}

extern void return_from_handler(void);
__asm__("return_from_handler: mov $15, %eax\n syscall\n"); /* rt_sigreturn */

static int three(void)
{
    return 3;
}

/* The loader asks what `number` is while it relocates this program. */
static int (*choose(void))(void)
{
    static const struct raw_action action = {note, 0x04000000, return_from_handler, 0}; /* SA_RESTORER */
    long result = SYS_rt_sigaction;
    register long size __asm__("r10") = MASK_BYTES;

    __asm__ volatile("syscall" : "+a"(result) : "D"(SIGUSR1), "S"(&action), "d"(NULL), "r"(size) : "rcx", "r11", "memory");
    return three;
}

static int number(void) __attribute__((ifunc("choose")));

int main(void)
{
    struct sigaction found;
    sigset_t mask;

    CHECK(number() == 3);
    CHECK(sigaction(SIGUSR1, NULL, &found) == 0 && found.sa_handler == note);
    CHECK(raise(SIGUSR1) == 0 && count == 1);
    CHECK(kill(getpid(), SIGUSR1) == 0 && count == 2);
    CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGUSR1));
    return succeed();
}
