/* The few places where registers matter: returning from a signal, and starting a thread where its creator trapped.
 *
 * Offsets into struct thread (shim.h): self 0, start registers from 8, checked by static assertions in trap.c.
 */
    .section .text.trap_entry, "ax", @progbits

/* Exactly the bytes that libgcc's unwinder and gdb know as a signal return, so that both see through our frames. */
    .globl  trap_restorer
    .hidden trap_restorer
    .type   trap_restorer, @function
    .balign 16
    nop     /* unwinders look up the byte before a return address */
trap_restorer:
    mov     $15, %rax           /* rt_sigreturn */
    syscall
    .size   trap_restorer, . - trap_restorer

/* The handler of SIGSEGV. What is the application's own goes to its own handler, in the frame that the kernel has made. */
    .globl  trap_fault
    .hidden trap_fault
    .type   trap_fault, @function
trap_fault:
    push    %rdi
    push    %rsi
    push    %rdx
    call    time_stamp_fault
    pop     %rdx
    pop     %rsi
    pop     %rdi
    test    %rax, %rax
    jz      1f
    mov     %rax, %r11
    xor     %eax, %eax
    jmp     *%r11
1:  ret
    .size   trap_fault, . - trap_fault

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
1:  /* The child: its own stack, the creator's other registers. Nothing above the stack pointer may be touched. */
    mov     %rsp, %r12
    mov     %r8, %rdi
    xor     %ebp, %ebp
    sub     $128, %rsp          /* the red zone of whoever prepared this stack */
    and     $-16, %rsp
    call    trap_thread_started
    mov     %r12, %rsp
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
