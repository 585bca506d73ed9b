/* Entering the application's handlers: what the kernel enters first, on the shim's own stack. */
    .section .text.frame_entry, "ax", @progbits

/* The kernel enters here. signal_answer says whether a handler is to be entered, and where; NULL: go on as before. */
    .globl  signal_entry
    .hidden signal_entry
    .type   signal_entry, @function
signal_entry:
    push    %rdi
    push    %rsi
    push    %rdx
    call    signal_answer
    pop     %rdx
    pop     %rsi
    pop     %rdi
    test    %rax, %rax
    jz      1f
    mov     %rax, %rdi
    jmp     handler_enter
1:  ret
    .size   signal_entry, . - signal_entry

/* The kernel enters here, in the application's own frame, for a handler that does not want the alternate stack: go on to it. */
    .globl  signal_watch
    .hidden signal_watch
    .type   signal_watch, @function
signal_watch:
    push    %rdi
    push    %rsi
    push    %rdx
    call    action_watched
    pop     %rdx
    pop     %rsi
    pop     %rdi
    mov     %rax, %r11
    xor     %eax, %eax
    jmp     *%r11
    .size   signal_watch, . - signal_watch

/* _Noreturn void handler_enter(const struct handler_entry *entry)
 * Enter the handler as the kernel would. The mask comes last: signals that it lets in are delivered on the new stack, and may
 * use the record anew. */
    .globl  handler_enter
    .hidden handler_enter
    .type   handler_enter, @function
handler_enter:
    mov     (%rdi), %rsp
    mov     8(%rdi), %r12       /* handler */
    mov     24(%rdi), %r13      /* signal */
    lea     16(%rdi), %rsi      /* mask */
    mov     $2, %edi            /* SIG_SETMASK */
    xor     %edx, %edx
    mov     $8, %r10d
    mov     $14, %eax           /* rt_sigprocmask */
    syscall
    mov     %r13, %rdi
    lea     8(%rsp), %rdx       /* struct ucontext */
    lea     312(%rsp), %rsi     /* siginfo_t */
    xor     %eax, %eax
    jmp     *%r12
    .size   handler_enter, . - handler_enter

/* _Noreturn void frame_return(struct ucontext *context): rt_sigreturn(2) from that frame. */
    .globl  frame_return
    .hidden frame_return
    .type   frame_return, @function
frame_return:
    mov     %rdi, %rsp
    mov     $15, %eax           /* rt_sigreturn */
    syscall
    ud2
    .size   frame_return, . - frame_return

    .section .note.GNU-stack, "", @progbits
