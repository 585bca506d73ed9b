/* The trap net: Syscall User Dispatch turns every system call made outside the shim's text into a SIGSYS.
 *
 * Dispatch is per thread and off in every new thread, fork child and exec'd image, so each of them arms it again.
 */
#include "shim.h"

#include <linux/audit.h>
#include <linux/elf.h>

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden"))); /* the linker's: this library's own header */

_Static_assert(offsetof(struct thread, start) == 8, "trap_entry.S");
_Static_assert(offsetof(struct thread, start.rip) == 120, "trap_entry.S");
_Static_assert(offsetof(struct thread, start.mxcsr) == 128, "trap_entry.S");
_Static_assert(offsetof(struct thread, start.fpu_control) == 132, "trap_entry.S");
_Static_assert(__NR_clone3 == 435, "trap_entry.S");

void trap_install(void)
{
    struct kernel_sigaction action = {
        .handler = (void *)trap_handler,
        /* ONSTACK for runtimes whose stacks are too small for a signal frame (Go). */
        .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
        .restorer = (void *)trap_restorer,
        .mask = SIGNALS_ALL,
    };
    uint64_t sigsys = SIGNAL_BIT(SIGSYS);

    NATIVE(rt_sigaction, SIGSYS, &action, NULL, 8);
    NATIVE(rt_sigprocmask, SIG_UNBLOCK, &sigsys, NULL, 8);
}

static const Elf64_Phdr *own_text(void)
{
    const Elf64_Phdr *segment = (const void *)((const uint8_t *)&__ehdr_start + __ehdr_start.e_phoff);

    while (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0)
        segment++;
    return segment;
}

bool trap_is_own_text(uint64_t address)
{
    const Elf64_Phdr *segment = own_text();

    return address - (uint64_t)&__ehdr_start - segment->p_vaddr < segment->p_memsz;
}

/* System calls from our own executable segment are let through, all others trapped. */
void trap_arm(void)
{
    const uint8_t *base = (const uint8_t *)&__ehdr_start;
    const Elf64_Phdr *segment = own_text();
    long result;

    result = NATIVE(prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, base + segment->p_vaddr, segment->p_memsz, NULL);
    if (result != 0)
        fatal("this kernel lacks Syscall User Dispatch (Linux 5.11 or newer, x86-64, CONFIG_GENERIC_ENTRY)", NULL, result);
}

/* What SIGSYS means when nobody trapped: the server or somebody else sent it. The application's own handler gets the latter. */
static void pass_on_foreign_signal(struct thread *thread, siginfo_t *info, struct ucontext *context)
{
    void (*handler)(int, siginfo_t *, void *) = thread->process->sigsys.handler;

    if (info->si_code == SIMUNIX_PREEMPT_CODE)
        preempted(thread, context);
    else if (handler != (void *)SIG_DFL && handler != (void *)SIG_IGN)
        handler(SIGSYS, info, context);
}

void trap_handler(int signal, siginfo_t *info, void *raw_context)
{
    struct ucontext *context = raw_context;
    struct sigcontext *registers = &context->uc_mcontext;
    struct thread *thread = current_thread();
    struct call call = {
        .number = (long)registers->rax,
        .a = {(long)registers->rdi, (long)registers->rsi, (long)registers->rdx, (long)registers->r10, (long)registers->r8,
              (long)registers->r9},
        .context = context,
        .thread = thread,
        .mask = context->uc_sigmask,
    };
    long result;

    (void)signal;
    if (info->si_code != SYS_USER_DISPATCH) {
        pass_on_foreign_signal(thread, info, context);
        return;
    }
    thread->process->page->traps++;
    thread->has_waited = false;
    clock_charge_call(&call);
    /* `int $0x80` counts as i386: its numbers and registers mean something else. */
    result = info->si_arch == AUDIT_ARCH_X86_64 ? dispatch(&call) : dispatch_unknown(&call, "i386 system call");
    if (result == -ERESTART_CALL) {
        registers->rip -= 2; /* the syscall instruction again, once the signal handler that waits has run */
        return;
    }
    registers->rax = (uint64_t)result;
}

static void say_hello(struct thread *thread, enum simunix_hello kind)
{
    struct msgpack_writer writer;
    struct reply reply;

    request_start(thread, &writer, OP_HELLO, 4);
    msgpack_put_int(&writer, kind);
    msgpack_put_int(&writer, thread->process->pid);
    msgpack_put_int(&writer, thread->tid);
    msgpack_put_text(&writer, "", 0);
    request_call(thread, &writer, &reply);
}

/* First code of a new thread, on its own stack; returns when it holds the turn and may start. */
void trap_thread_started(struct thread *thread)
{
    bool is_process = thread->process->pid == 0; /* a vfork-like child: a process of its own in its parent's memory */
    int64_t value;

    set_thread_pointer(thread);
    thread->tid = (int)NATIVE(gettid);
    if (is_process) {
        thread->process->pid = thread->tid;
        /* The kernel lets it keep its creator's alternate stack, on which its creator's trap frame may lie. */
        NATIVE(sigaltstack, &(stack_t){.ss_flags = SS_DISABLE}, NULL);
        NATIVE(close_range, thread->process->descriptor_floor, thread->channel - 1, 0);
        NATIVE(close_range, thread->channel + 1, ~0U, 0);
    }
    if (is_process || thread->slot == 0)
        say_hello(thread, is_process ? HELLO_FORKED : HELLO_THREAD);
    else /* whoever has made it has left its number there */
        slot_wait(thread, &value);
    strace_open(thread);
    trap_arm();
    signals_stop_if_due(thread, thread->start_mask);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &thread->start_mask, NULL, 8);
}
