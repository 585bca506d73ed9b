/* Returning from a signal handler, and from a call that waited under a mask of its own. */
    .section .text.signal_restorer, "ax", @progbits

/* Exactly the bytes that libgcc's unwinder and gdb know as a signal return, so that both see through the shim's frames. */
    .globl  signal_restorer
    .hidden signal_restorer
    .type   signal_restorer, @function
    .balign 16
    nop     /* unwinders look up the byte before a return address */
signal_restorer:
    mov     $15, %rax           /* rt_sigreturn */
    syscall
    .size   signal_restorer, . - signal_restorer

/* A call such as sigsuspend(2) returns here while the handlers that its mask lets in are due, which run in between on the
 * application's stack: then the mask from before the call is put back, and the application goes on. The stack holds, from its
 * top, where to go on, that mask, and the application's stack pointer (turn/interruption.c). */
    .globl  mask_restorer
    .hidden mask_restorer
    .type   mask_restorer, @function
    .balign 16
mask_restorer:
    .cfi_startproc
    .cfi_escape 0x0f, 3, 0x77, 16, 0x06     /* CFA: what lies at 16(%rsp) */
    .cfi_escape 0x10, 16, 2, 0x77, 0        /* return address: at 0(%rsp) */
    push    %rax
    .cfi_escape 0x0f, 3, 0x77, 24, 0x06
    .cfi_escape 0x10, 16, 2, 0x77, 8
    push    %rdi
    .cfi_escape 0x0f, 3, 0x77, 32, 0x06
    .cfi_escape 0x10, 16, 2, 0x77, 16
    push    %rsi
    push    %rdx
    push    %r10
    .cfi_escape 0x0f, 3, 0x77, 56, 0x06
    .cfi_escape 0x10, 16, 2, 0x77, 40
    mov     $14, %eax           /* rt_sigprocmask */
    mov     $2, %edi            /* SIG_SETMASK */
    lea     48(%rsp), %rsi
    xor     %edx, %edx
    mov     $8, %r10d
    syscall
    pop     %r10
    pop     %rdx
    pop     %rsi
    pop     %rdi
    pop     %rax
    .cfi_escape 0x0f, 3, 0x77, 16, 0x06
    .cfi_escape 0x10, 16, 2, 0x77, 0
    mov     (%rsp), %rcx        /* a system call clobbers it anyhow */
    mov     16(%rsp), %rsp
    jmp     *%rcx
    .cfi_endproc
    .size   mask_restorer, . - mask_restorer

    .section .note.GNU-stack, "", @progbits
