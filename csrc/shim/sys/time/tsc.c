/* The processor's time stamp counter tells virtual time: reading it is made to fault, and the fault is answered here.
 *
 * The fault is a SIGSEGV, so that signal's handler is the shim's; the application only believes that it changed the handler.
 * Any other fault is the application's: its handler is entered as the kernel would have entered it (tsc_fault.S), or the
 * default action taken.
 */
#include "shim/sys/time/time.h"
#include "shim/turn/turn.h"

#define GENERAL_PROTECTION 13
#define CYCLES_PER_NS 2 /* as /proc/cpuinfo of an emulated host says, see simunix/launch/view/hardware.py */

/* Install the shim's handler with the mask and flags that the application believes to be in force. */
static void install(const struct kernel_sigaction *believed)
{
    struct kernel_sigaction action = *believed;
    bool handles = action.handler != (void *)SIG_DFL && action.handler != (void *)SIG_IGN;

    if (!handles) /* ONSTACK for runtimes whose stacks are too small for a signal frame */
        action = (struct kernel_sigaction){.flags = SA_ONSTACK | SA_NODEFER};
    action.handler = (void *)tsc_fault;
    action.flags = (action.flags & ~(unsigned long)SA_RESETHAND) | SA_SIGINFO | SA_RESTORER;
    action.restorer = (void *)signal_restorer;
    NATIVE(rt_sigaction, SIGSEGV, &action, NULL, 8);
}

/* From here on the counter cannot be read natively by this thread, nor by those that it creates. */
void tsc_trap(struct process *process)
{
    install(&process->sigsegv);
    NATIVE(prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

void tsc_start(struct process *process)
{
    NATIVE(rt_sigaction, SIGSEGV, NULL, &process->sigsegv, 8);
    tsc_trap(process);
}

/* A new image starts with the dynamic loader, which reads the counter before the shim is loaded; the image inherits what is
 * ignored. */
void tsc_release(struct process *process)
{
    struct kernel_sigaction ignore = {.handler = (void *)SIG_IGN};

    NATIVE(prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
    if (process->sigsegv.handler == (void *)SIG_IGN)
        NATIVE(rt_sigaction, SIGSEGV, &ignore, NULL, 8);
}

/* rt_sigaction of SIGSEGV: `action` is what strace and the shim have made of the wanted one, NULL to ask only. */
void tsc_sigaction(struct process *process, const struct kernel_sigaction *action, struct kernel_sigaction *old)
{
    struct kernel_sigaction before = process->sigsegv;

    if (action != NULL) {
        process->sigsegv = *action;
        install(action);
    }
    if (old != NULL)
        *old = before;
}

/* Size of the instruction if it reads the counter, else 0. Only what was fetched is looked at. */
static int reading(const uint8_t *code)
{
    if (code[0] != 0x0f)
        return 0;
    if (code[1] == 0x31)
        return 2;                                      /* rdtsc */
    return code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0; /* rdtscp */
}

static bool answer_reading(struct thread *thread, struct sigcontext *registers)
{
    int size = registers->trapno == GENERAL_PROTECTION ? reading((const uint8_t *)registers->rip) : 0;
    uint64_t cycles;

    if (size == 0 || thread->process->tsc_faults)
        return false;
    cycles = CYCLES_PER_NS * (uint64_t)clock_read(thread, CLOCK_MONOTONIC);
    registers->rax = (uint32_t)cycles;
    registers->rdx = cycles >> 32;
    if (size == 3)
        registers->rcx = 0; /* node and processor */
    registers->rip += (uint64_t)size;
    return true;
}

/* Take the default action of SIGSEGV: a fault comes again by itself, a signal that was sent is sent again. */
static void take_default(struct thread *thread, const siginfo_t *info)
{
    struct kernel_sigaction action = {.handler = (void *)SIG_DFL, .flags = SA_RESTORER, .restorer = (void *)signal_restorer};

    NATIVE(rt_sigaction, SIGSEGV, &action, NULL, 8);
    if (info->si_code <= 0)
        NATIVE(tgkill, thread->process->pid, thread->tid, SIGSEGV);
}

/* Called by tsc_fault: the application's handler, to be entered in its place, or NULL to go on. */
void *tsc_answer(int signal, siginfo_t *info, struct ucontext *context)
{
    struct thread *thread = current_thread();
    struct kernel_sigaction *believed = &thread->process->sigsegv;
    void *handler = (void *)believed->handler;

    (void)signal;
    if (info->si_code == SI_KERNEL && answer_reading(thread, &context->uc_mcontext))
        return NULL;
    if (handler == (void *)SIG_IGN && info->si_code <= 0)
        return NULL;
    if (handler == (void *)SIG_DFL || handler == (void *)SIG_IGN) {
        take_default(thread, info);
        return NULL;
    }
    if ((believed->flags & SA_RESETHAND) != 0)
        believed->handler = (void *)SIG_DFL;
    return handler;
}

/* prctl(PR_SET_TSC): an application that wants its readings to fault gets the faults as its own. */
long tsc_set(struct process *process, long mode)
{
    if (mode != PR_TSC_ENABLE && mode != PR_TSC_SIGSEGV)
        return -EINVAL;
    process->tsc_faults = mode == PR_TSC_SIGSEGV;
    return 0;
}

long tsc_get(const struct process *process, int *mode)
{
    if (is_bad_pointer(mode))
        return -EFAULT;
    *mode = process->tsc_faults ? PR_TSC_SIGSEGV : PR_TSC_ENABLE;
    return 0;
}
