/* Starting a thread where its creator trapped.
 *
 * Offsets into struct thread (core/core.h): self 0, start registers from 8, checked by static assertions in thread_start.c.
 */
    .section .text.clone_entry, "ax", @progbits

/* long trap_clone(struct clone_args *args, size_t size, struct thread *child)
 * clone3; the creator gets the kernel's answer, the child goes on at child->start and never returns here. */
    .globl  trap_clone
    .hidden trap_clone
    .type   trap_clone, @function
trap_clone:
    mov     %rdx, %r8
    mov     $435, %eax          /* clone3 */
    syscall
    test    %rax, %rax
    jz      1f
    ret
1:  /* The child: its own stack, the creator's other registers. Nothing above the stack pointer may be touched. The child of
     * a vfork goes on at its creator's own stack pointer. */
    mov     %rsp, %r12
    mov     %r8, %rdi
    xor     %ebp, %ebp
    sub     $128, %rsp          /* the red zone of the code that prepared this stack */
    and     $-16, %rsp
    call    trap_thread_started
    mov     %gs:136, %rsp
    test    %rsp, %rsp
    cmovz   %r12, %rsp
    ldmxcsr %gs:128
    fldcw   %gs:132
    mov     %gs:8, %r8
    mov     %gs:16, %r9
    mov     %gs:24, %r10
    mov     %gs:32, %r11
    mov     %gs:40, %r12
    mov     %gs:48, %r13
    mov     %gs:56, %r14
    mov     %gs:64, %r15
    mov     %gs:72, %rdi
    mov     %gs:80, %rsi
    mov     %gs:88, %rbp
    mov     %gs:96, %rbx
    mov     %gs:104, %rdx
    mov     %gs:112, %rcx
    xor     %eax, %eax
    jmp     *%gs:120
    .size   trap_clone, . - trap_clone

    .section .note.GNU-stack, "", @progbits
