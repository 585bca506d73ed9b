/* Being traced by an emulated process: ptrace(2) without the kernel's.
 *
 * The kernel's tracing would stop a thread at each SIGSYS of the trap net, and a program has one tracer at most, which the
 * host's init may be (csrc/hostinit/injection.c). So a traced thread stops by itself: it gives the turn back until the tracer
 * lets it go on. During the stop, its registers are in a struct trace_stop, which the tracer reads and writes
 * (sys/process/ptrace.c).
 *
 * The invariant: every event that a tracer learns of happens in the tracee's own turn. Signals are pending until the end of the
 * call in which they came, so the shim looks for signals at the end of each call and in every wait. Breakpoints, single
 * steps and other faults are signals of the kernel, which enter the shim (sys/signal/action.c).
 *
 * A stop needs all registers. The registers of a trapped call are in the frame of its SIGSYS; elsewhere in the shim,
 * the thread sends a SIGSYS to itself to get such a frame. */
#include "shim/turn/tracee.h"
#include "shim/core/channel.h"
#include "shim/core/memory.h"

#define TRAP_FLAG 0x100UL
#define ARCH_GET_FS_CODE 0x1003
#define TRAP_STEP 2 /* TRAP_TRACE, TRAP_HWBKPT of <signal.h> */
#define TRAP_WATCHPOINT 4
#define TRAP_AFTER_CALL 1 /* TRAP_BRKPT of <signal.h>, which Linux reports for a step over a system call */
#define EVENT_EXIT_CODE(event) ((int)(event) << 8 | SIGTRAP)
#define NO_PLACE UINT16_MAX
#define PLACE(name) offsetof(struct sigcontext, name)

/* The place of a register in the frame of a signal. */
static const uint16_t places[USER_REGISTERS] = {
    [USER_R15] = PLACE(r15), [USER_R14] = PLACE(r14),   [USER_R13] = PLACE(r13),       [USER_R12] = PLACE(r12),
    [USER_RBP] = PLACE(rbp), [USER_RBX] = PLACE(rbx),   [USER_R11] = PLACE(r11),       [USER_R10] = PLACE(r10),
    [USER_R9] = PLACE(r9),   [USER_R8] = PLACE(r8),     [USER_RAX] = PLACE(rax),       [USER_RCX] = PLACE(rcx),
    [USER_RDX] = PLACE(rdx), [USER_RSI] = PLACE(rsi),   [USER_RDI] = PLACE(rdi),       [USER_ORIG_RAX] = NO_PLACE,
    [USER_RIP] = PLACE(rip), [USER_CS] = NO_PLACE,      [USER_EFLAGS] = PLACE(eflags), [USER_RSP] = PLACE(rsp),
    [USER_SS] = NO_PLACE,    [USER_FS_BASE] = NO_PLACE, [USER_GS_BASE] = NO_PLACE,     [USER_DS] = NO_PLACE,
    [USER_ES] = NO_PLACE,    [USER_FS] = NO_PLACE,      [USER_GS] = NO_PLACE,
};

static uint64_t *register_at(struct ucontext *context, int which)
{
    return (uint64_t *)((uint8_t *)&context->uc_mcontext + places[which]);
}

/* From now on the process has the shim's handlers for traps, until its next exec. */
void tracee_begin(struct thread *thread)
{
    struct process *process = thread->process;

    thread->tracee.is_traced = true;
    if (!process->traps.is_tracee && process->traps.take != NULL)
        process->traps.take();
    process->traps.is_tracee = process->traps.all = true;
}

/* Return whether this is a frame of code of the shim that may not be interrupted; the thread does not stop in such code
 * after a step. */
static bool is_in_shim(const struct ucontext *context)
{
    uint64_t others = SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGSYS) | SIGNAL_BIT(SIGTRAP) |
                      SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP);

    return trap_is_own_text(context->uc_mcontext.rip) && (context->uc_sigmask | others) == SIGNALS_ALL;
}

static void show_registers(struct trace_stop *stop, struct ucontext *context)
{
    const struct sigcontext *registers = &context->uc_mcontext;
    uint64_t thread_pointer = 0;

    for (int which = 0; which < USER_REGISTERS; which++)
        stop->registers[which] = places[which] == NO_PLACE ? 0 : *register_at(context, which);
    NATIVE(arch_prctl, ARCH_GET_FS_CODE, &thread_pointer);
    stop->registers[USER_FS_BASE] = thread_pointer;
    stop->registers[USER_CS] = registers->cs;
    stop->registers[USER_SS] = registers->ss;
    stop->registers[USER_EFLAGS] &= ~TRAP_FLAG;
    stop->registers[USER_ORIG_RAX] = (uint64_t)stop->number;
    if (stop->number >= 0)
        stop->registers[USER_RAX] = (uint64_t)stop->result;
    stop->state = (uint64_t)registers->fpstate;
}

/* Return whether the kernel would restart the call: signal(7), as the tracer sees it. */
static bool restarts_call(const uint64_t *registers)
{
    int64_t result = (int64_t)registers[USER_RAX];

    return (int64_t)registers[USER_ORIG_RAX] >= 0 && (result == -512 || result == -513 || result == -514 || result == -516);
}

/* Take over the registers that the tracer has changed. A thread that goes on at another place leaves its call. */
static void take_registers(struct thread *thread, struct trace_stop *stop, struct ucontext *context)
{
    uint64_t *registers = stop->registers;
    struct sigcontext *own = &context->uc_mcontext;
    bool has_moved = registers[USER_RIP] != own->rip || registers[USER_RSP] != own->rsp;
    bool is_in_call = stop->number >= 0 && !has_moved;

    if ((has_moved || stop->number < 0) && restarts_call(registers)) {
        registers[USER_RIP] -= 2;
        registers[USER_RAX] = registers[USER_ORIG_RAX];
    }
    for (int which = 0; which < USER_REGISTERS; which++)
        if (places[which] != NO_PLACE && !(which == USER_RAX && is_in_call))
            *register_at(context, which) = registers[which];
    if ((thread->tracee.steps || watchpoints_are_set(thread)) && !is_in_shim(context))
        own->eflags |= TRAP_FLAG;
    else
        own->eflags &= ~TRAP_FLAG;
    watchpoints_begin(thread);
    thread->tracee.has_moved |= has_moved && stop->number >= 0;
}

static void stop_in(struct thread *thread, struct trace_stop *stop, struct ucontext *context)
{
    struct tracee *tracee = &thread->tracee;
    struct reply reply;
    int64_t resume;

    if ((context->uc_sigmask & SIGNAL_BIT(SIGTRAP)) != 0 && !is_in_shim(context)) { /* a blocked SIGTRAP would kill */
        context->uc_sigmask &= ~SIGNAL_BIT(SIGTRAP);
        thread->signals.hidden_mask |= SIGNAL_BIT(SIGTRAP);
    }
    show_registers(stop, context);
    stop->debug = (uint64_t)tracee->debug;
    ASK(thread, &reply, OP_TRACEE_STOPS, stop->kind, stop->value, stop->message, (int64_t)stop);
    resume = reply_number(&reply, 1);
    tracee->is_traced = (resume & RESUME_DETACHED) == 0;
    tracee->stops_at_calls = (resume & RESUME_SYSCALL) != 0;
    tracee->steps = (resume & RESUME_STEP) != 0;
    tracee->due = (resume & RESUME_STOPS_AGAIN) != 0 ? SIGSTOP : 0;
    stop->signal = (int)(resume & 0xff);
    if (thread->in_call.acts)
        thread->process->page->may_have_woken = 1;
    take_registers(thread, stop, context);
}

/* Stop the thread, which has sent itself the SIGSYS whose handler calls this function. */
void tracee_stop_here(struct thread *thread, struct ucontext *context)
{
    struct trace_stop *stop = thread->tracee.stop;

    thread->tracee.stop = NULL;
    if (stop != NULL)
        stop_in(thread, stop, context);
}

/* Stop until the tracer lets the thread go on. Without a signal frame the thread makes one, and stops inside of the shim. */
void tracee_stop(struct thread *thread, struct trace_stop *stop, struct ucontext *context)
{
    siginfo_t info = {.si_signo = SIGSYS, .si_code = SIMUNIX_TRACE_CODE};
    uint64_t only = SIGNAL_BIT(SIGSYS);
    uint64_t before;

    if (context != NULL) {
        stop_in(thread, stop, context);
        return;
    }
    stop->number = -1;
    thread->tracee.stop = stop;
    NATIVE(rt_tgsigqueueinfo, thread->process->ids.pid, thread->ids.tid, SIGSYS, &info);
    NATIVE(rt_sigprocmask, SIG_UNBLOCK, &only, &before, 8);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
}

/* Stop if this is a thread that must stop for its tracer. The function is called because some thread of the emulation
 * must stop, and does not know it yet. */
void tracee_look(struct thread *thread)
{
    struct reply reply;

    ask(thread, &reply, OP_TRACEE_LOOK, 0, NULL);
    if (reply_number(&reply, 1) == 0)
        return;
    tracee_begin(thread);
    thread->tracee.due = SIGSTOP;
}

/* Stop with a signal. The signal with which the tracer lets the thread go on is pending afterwards. */
static void stop_with(struct thread *thread, siginfo_t *info, struct ucontext *context, long number)
{
    struct trace_stop stop = {
        .kind = STOP_SIGNAL, .value = info->si_signo, .number = number, .result = -ERESTART_CALL, .info = *info};
    int signal;

    tracee_stop(thread, &stop, context);
    signal = stop.signal;
    if (signal == 0 || signal == SIGSTOP) /* the process of a traced thread is not stopped as a group: ptrace(2) */
        return;
    if (signal != info->si_signo)
        stop.info = (siginfo_t){.si_signo = signal};
    thread->tracee.let_in |= SIGNAL_BIT(signal);
    NATIVE(rt_tgsigqueueinfo, thread->process->ids.pid, thread->ids.tid, signal, &stop.info);
}

/* Stop for each signal that the thread may take now. `number` is the call in which it waits, or -1. Returns true if the
 * tracer has made it go on at another place. */
bool tracee_take_signals(struct thread *thread, uint64_t mask, struct ucontext *context, long number)
{
    static const struct kernel_timespec now = {0, 0};
    struct tracee *tracee = &thread->tracee;
    uint64_t pending;

    while (tracee->is_traced && !tracee->has_moved) {
        siginfo_t info = {.si_signo = tracee->due};
        uint64_t only;

        NATIVE(rt_sigpending, &pending, 8);
        tracee->let_in &= pending;
        pending &= ~mask & ~tracee->let_in & ~(SIGNAL_BIT(SIGSYS) | SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP));
        if (tracee->due == 0 && pending == 0)
            break;
        only = pending & -pending;
        if (tracee->due == 0 && NATIVE(rt_sigtimedwait, &only, &info, &now, 8) < 0)
            break;
        tracee->due = 0;
        stop_with(thread, &info, context, number);
    }
    return tracee->has_moved;
}

/* Report an event of ptrace(2) to the tracer, if the tracer wants it. */
void tracee_event(struct call *call, int event, int64_t message)
{
    struct trace_stop stop = {
        .kind = STOP_EVENT, .value = event, .message = message, .number = call->number, .result = -ENOSYS};

    if (!call->thread->tracee.is_traced)
        return;
    stop.info = (siginfo_t){.si_signo = SIGTRAP, .si_code = EVENT_EXIT_CODE(event)};
    tracee_stop(call->thread, &stop, call->context);
}

/* Stop the new program of a traced process, when the shim has been loaded; the dynamic loader has run by then. */
void tracee_exec(struct thread *thread)
{
    struct trace_stop stop = {.kind = STOP_EXEC, .message = thread->ids.tid, .info = {.si_signo = SIGTRAP}};

    tracee_stop(thread, &stop, NULL);
    if (!thread->tracee.stops_at_calls)
        return;
    stop = (struct trace_stop){.kind = STOP_EXIT, .info = {.si_signo = SIGTRAP, .si_code = SIGTRAP}};
    tracee_stop(thread, &stop, NULL);
}

/* Return whether there is nothing to tell the tracer after an instruction under the trap flag. */
static bool goes_on_stepping(struct thread *thread, const struct ucontext *context, siginfo_t *info)
{
    bool hit;

    if (is_in_shim(context))
        return true;
    hit = watchpoints_hit(thread, context->uc_mcontext.rip);
    if (hit)
        info->si_code = TRAP_WATCHPOINT;
    return !hit && !thread->tracee.steps;
}

/* Handle a fault or a trap of the application. Returns false if the tracer has taken the signal. */
bool tracee_fault(struct thread *thread, int signal, const siginfo_t *info, struct ucontext *context)
{
    struct trace_stop stop = {.kind = STOP_SIGNAL, .value = signal, .number = -1, .info = *info};

    if (signal == SIGTRAP && info->si_code == TRAP_STEP && goes_on_stepping(thread, context, &stop.info))
        return false;
    tracee_stop(thread, &stop, context);
    return stop.signal == signal;
}

static void take_arguments(struct call *call, const uint64_t *registers)
{
    static const int arguments[] = {USER_RDI, USER_RSI, USER_RDX, USER_R10, USER_R8, USER_R9};

    for (int i = 0; i < 6; i++)
        call->a[i] = (long)registers[arguments[i]];
    call->number = (long)registers[USER_ORIG_RAX];
}

/* Stop at the entry of a call. Returns false if the tracer has cancelled the call: then `result` is the value that the
 * tracer has set. */
bool tracee_enters_call(struct call *call, long *result)
{
    struct trace_stop stop = {.kind = STOP_ENTRY, .number = call->number, .result = -ENOSYS, .info = {.si_signo = SIGTRAP}};

    if (!call->thread->tracee.stops_at_calls || call->number == __NR_rt_sigreturn)
        return true;
    stop.info.si_code = SIGTRAP;
    tracee_stop(call->thread, &stop, call->context);
    take_arguments(call, stop.registers);
    *result = (long)stop.registers[USER_RAX];
    return call->number >= 0;
}

static void stop_at_exit(struct call *call, long *result)
{
    struct trace_stop stop = {.kind = STOP_EXIT, .number = call->number, .result = *result, .info = {.si_signo = SIGTRAP}};

    stop.info.si_code = SIGTRAP;
    tracee_stop(call->thread, &stop, call->context);
    *result = (long)stop.registers[USER_RAX];
}

static void stop_after_step(struct thread *thread, struct ucontext *context)
{
    const siginfo_t info = {.si_signo = SIGTRAP, .si_code = TRAP_AFTER_CALL};

    thread->tracee.steps = false;
    tracee_fault(thread, SIGTRAP, &info, context);
}

/* Handle the end of a traced thread's call with this result: set its registers, and make the stops that are due before
 * the application goes on. */
void tracee_leaves_call(struct call *call, long result)
{
    struct thread *thread = call->thread;
    struct sigcontext *registers = &call->context->uc_mcontext;

    if (!thread->tracee.has_moved && thread->tracee.stops_at_calls)
        stop_at_exit(call, &result);
    if (!thread->tracee.has_moved && result == -ERESTART_CALL)
        registers->rip -= 2;
    else if (!thread->tracee.has_moved)
        registers->rax = (uint64_t)result;
    thread->tracee.has_moved = false;
    tracee_take_signals(thread, call->context->uc_sigmask, call->context, -1);
    thread->tracee.has_moved = false;
    if (thread->tracee.steps)
        stop_after_step(thread, call->context);
    if (watchpoints_are_set(thread))
        registers->eflags |= TRAP_FLAG;
}
