/* Where a program begins that the host's init has brought the shim into (csrc/hostinit/injection.c).
 *
 * On entry: the shim's file mapped whole, this code in it, its address in rax; rbx how far this code is from the file's start;
 * rsi the file's size; r8 its descriptor; rbp where the program itself begins; rsp the program's stack, as the kernel left it.
 */
    .section .text.injected_entry, "ax", @progbits
    .globl  injected_entry
    .hidden injected_entry
    .type   injected_entry, @function
injected_entry:
    mov     %rsp, %r12
    sub     %rbx, %rax
    mov     %rax, %r13          /* the flat mapping */
    mov     %rsi, %r14
    mov     %r8, %r15
    and     $-16, %rsp
    mov     %r13, %rdi
    mov     %r15, %rsi
    call    injected_place      /* the library, laid out and relocated */
    lea     1f(%rip), %rcx
    sub     %r13, %rcx
    add     %rax, %rcx
    jmp     *%rcx
1:  mov     %r12, %rdi          /* here in the library's own text */
    mov     %r13, %rsi
    mov     %r14, %rdx
    mov     %r15, %rcx
    call    injected_start
    mov     %rax, %rsp
    mov     %rbp, -8(%rsp)
    xor     %eax, %eax
    xor     %ebx, %ebx
    xor     %ecx, %ecx
    xor     %edx, %edx          /* no function for the program to register with atexit(3) */
    xor     %esi, %esi
    xor     %edi, %edi
    xor     %ebp, %ebp
    xor     %r8d, %r8d
    xor     %r9d, %r9d
    xor     %r10d, %r10d
    xor     %r11d, %r11d
    xor     %r12d, %r12d
    xor     %r13d, %r13d
    xor     %r14d, %r14d
    xor     %r15d, %r15d
    jmp     *-8(%rsp)           /* in the red zone, which signals leave alone */
    .size   injected_entry, . - injected_entry

    .section .note.GNU-stack, "", @progbits
