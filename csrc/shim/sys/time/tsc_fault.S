/* The handler of SIGSEGV, which asks tsc.c first. A fault that is the application's own goes to its own handler, in the frame
 * that the kernel has made. */
    .section .text.tsc_fault, "ax", @progbits

    .globl  tsc_fault
    .hidden tsc_fault
    .type   tsc_fault, @function
tsc_fault:
    push    %rdi
    push    %rsi
    push    %rdx
    call    tsc_answer
    pop     %rdx
    pop     %rsi
    pop     %rdi
    test    %rax, %rax
    jz      1f
    mov     %rax, %r11
    xor     %eax, %eax
    jmp     *%r11
1:  ret
    .size   tsc_fault, . - tsc_fault

    .section .note.GNU-stack, "", @progbits
