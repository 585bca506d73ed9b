/* Returning from a signal handler. */
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

    .section .note.GNU-stack, "", @progbits
