/* Handlers that a bad pointer of the application ends: where the shim's own memory accesses fault, the handler's result is
 * -EFAULT, as the kernel's would be.
 *
 * Nothing is looked at beforehand, so that a good pointer costs nothing: guarded_call writes down where the stack stands, and
 * the handler of SIGSEGV and SIGBUS (sys/signal/fault.c) goes on there. What the handler has done until then stays done, as
 * with Linux. Offset of `guard` in struct thread: checked in sys/process/thread_start.c.
 */
    .section .text.guard, "ax", @progbits

/* long guarded_call(long (*work)(void *), void *argument): the result of work, or -EFAULT. */
    .globl  guarded_call
    .hidden guarded_call
    .type   guarded_call, @function
guarded_call:
    .cfi_startproc
    push    %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    push    %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    push    %r12
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r12, 0
    push    %r13
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r13, 0
    push    %r14
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r14, 0
    push    %r15
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r15, 0
    pushq   %gs:144             /* of a call that this one interrupts */
    .cfi_adjust_cfa_offset 8
    mov     %rsp, %gs:144
    mov     %rdi, %rax
    mov     %rsi, %rdi
    call    *%rax
1:  popq    %gs:144
    .cfi_adjust_cfa_offset -8
    .cfi_remember_state
    pop     %r15
    .cfi_adjust_cfa_offset -8
    .cfi_restore %r15
    pop     %r14
    .cfi_adjust_cfa_offset -8
    .cfi_restore %r14
    pop     %r13
    .cfi_adjust_cfa_offset -8
    .cfi_restore %r13
    pop     %r12
    .cfi_adjust_cfa_offset -8
    .cfi_restore %r12
    pop     %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbx
    pop     %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    ret

/* Where a faulting handler goes on, with the guard as its stack pointer. */
    .globl  guard_fault
    .hidden guard_fault
guard_fault:
    .cfi_restore_state
    .cfi_adjust_cfa_offset 8
    mov     $-14, %rax          /* EFAULT */
    jmp     1b
    .cfi_endproc
    .size   guarded_call, . - guarded_call

    .section .note.GNU-stack, "", @progbits
