/* Where the program begins: asks for the oldest __libc_start_main, since the usual start files ask for that of the C library that
 * they were built with, and a host may run an older Debian. */
#include <stddef.h>

int main(int count, char **words);
int start_main(int (*main)(int, char **), int count, char **words, void (*init)(void), void (*fini)(void), void (*end)(void),
               void *stack_end);
__asm__(".symver start_main, __libc_start_main@GLIBC_2.2.5");

__asm__(".globl _start\n"
        "_start:\n"
        "    xorl %ebp, %ebp\n"
        "    movq %rsp, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    andq $-16, %rsp\n"
        "    call start_on_stack\n"
        "    hlt\n");

/* The kernel's stack: how many words, the words. `end` is the dynamic loader's own last function. */
__attribute__((used)) void start_on_stack(long *stack, void (*end)(void))
{
    start_main(main, (int)stack[0], (char **)(stack + 1), NULL, NULL, end, stack);
}
