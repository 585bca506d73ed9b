/* Where a rewritten `syscall` instruction leads (hot_site.c). In: the call's registers, and in rcx the record of its stub. Out:
 * as the kernel leaves them: the result in rax, rcx and r11 lost, all others kept.
 *
 * The registers lie below the red zone of the application's stack, in a struct site_block; the shim itself runs on its own
 * stack, since the application's may have no room. Signals are blocked all the while; they are let in again, and their
 * handlers run, once the application's stack is in use again.
 */
#include "shim/entry/site.h"

    .section .text.site_entry, "ax", @progbits
    .globl  site_entry
    .hidden site_entry
    .type   site_entry, @function
site_entry:
    .cfi_startproc
    .cfi_undefined %rip
    cmp     $SITE_CALLS, %rax
    jae     1f
    lea     site_calls(%rip), %r11
    cmpb    $0, (%r11,%rax)
    jne     2f
1:  jmp     *8(%rcx)            /* the stub's own instruction, which traps */
2:  lea     -224(%rsp), %rsp    /* the red zone's 128 bytes, and the block's 96 */
    .cfi_adjust_cfa_offset 224
    mov     %rcx, 80(%rsp)
    mov     (%rcx), %r11        /* where to go on */
    mov     %r11, 8(%rsp)
    .cfi_offset %rip, -216
    mov     %r10, 16(%rsp)
    mov     %rdx, 24(%rsp)
    mov     %rsi, 32(%rsp)
    mov     %rdi, 40(%rsp)
    mov     %rax, 48(%rsp)
    mov     %r8, 56(%rsp)
    mov     %r9, 64(%rsp)
    mov     %rbx, 72(%rsp)
    .cfi_offset %rbx, -152
    mov     $2, %edi            /* SIG_SETMASK */
    lea     blocked(%rip), %rsi
    mov     %rsp, %rdx
    mov     $8, %r10d
    mov     $14, %eax           /* rt_sigprocmask */
    syscall
    mov     %rsp, %rbx
    .cfi_def_cfa_register %rbx
    mov     %rsp, %rdi
    mov     %gs:SITE_OWN_STACK_OFFSET, %rsp
    lea     SITE_OWN_STACK_BYTES(%rsp), %rsp
    call    site_call
    mov     %rbx, %rsp
    .cfi_def_cfa_register %rsp
    mov     $2, %edi
    mov     %rsp, %rsi
    xor     %edx, %edx
    mov     $8, %r10d
    mov     $14, %eax
    syscall                     /* the handlers of what is pending run here */
    mov     8(%rsp), %r11
    mov     16(%rsp), %r10
    mov     24(%rsp), %rdx
    mov     32(%rsp), %rsi
    mov     40(%rsp), %rdi
    mov     48(%rsp), %rax
    mov     56(%rsp), %r8
    mov     64(%rsp), %r9
    mov     72(%rsp), %rbx
    lea     224(%rsp), %rsp
    jmp     *%r11
    .cfi_endproc
    .size   site_entry, . - site_entry

    .section .rodata.site_entry, "a", @progbits
    .balign 8
blocked:
    .quad   SITE_BLOCKED

    .section .note.GNU-stack, "", @progbits
