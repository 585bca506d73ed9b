/* The entry point. This file links with the oldest version of __libc_start_main: the usual start files link with the
 * version of the C library with which they were built, which an older Debian, as a host may run, does not have. */
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

/* On the stack the kernel has left the number of arguments and the arguments. `end` is the function that the dynamic
 * loader wants to be called at exit. */
__attribute__((used)) void start_on_stack(long *stack, void (*end)(void))
{
    start_main(main, (int)stack[0], (char **)(stack + 1), NULL, NULL, end, stack);
}
