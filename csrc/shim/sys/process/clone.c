/* Makes threads and processes. A child is announced first, so that the server decides on its place in the order. Then
 * the child waits for its first turn. */
#include "shared/slots.h"
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/turn/tracee.h"
#include "shim/pids/pids.h"
#include "shim/strace/tracing.h"
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/process/process.h"
#include "shim/sys/process/seccomp.h"
#include "shim/turn/turn.h"

#define CLONE3_BYTES_MAX 4096
#define CLONE_OF_THREAD (CLONE_VM | CLONE_THREAD)

/* Return the event of ptrace(2) for this birth. */
static int birth_event(enum simunix_fork kind, const struct clone_args *args)
{
    if ((args->flags & CLONE_UNTRACED) != 0)
        return 0;
    if (kind == FORK_THREAD)
        return PTRACE_EVENT_CLONE;
    if ((args->flags & CLONE_VFORK) != 0)
        return PTRACE_EVENT_VFORK;
    return args->exit_signal == SIGCHLD ? PTRACE_EVENT_FORK : PTRACE_EVENT_CLONE;
}

static struct announced announce(struct call *call, enum simunix_fork kind, const struct clone_args *args)
{
    struct reply reply;
    int64_t asked = kind != FORK_THREAD && (args->flags & CLONE_PARENT) != 0 ? (int64_t)kind + FORK_SIBLING : (int64_t)kind;
    struct announced child = {.channel = -1};

    if (call->thread->tracee.is_traced)
        asked += FORK_EVENT * birth_event(kind, args);

    descriptors_raise();
    child.number = ASK(call->thread, &reply, OP_FORK, asked);
    child.slot = (uint32_t)reply_number(&reply, 1);
    child.seed = (uint64_t)reply_number(&reply, 3);
    child.is_traced = reply_number(&reply, 4) != 0;
    child.next_charge = reply_number(&reply, 5);
    child.pooled_channel = kind == FORK_THREAD ? reply_number(&reply, 2) : 0;
    if (reply.fd >= 0)
        child.channel = descriptor_hide(call->thread->process, reply.fd);
    descriptors_limit(call->thread->process);
    return child;
}

/* Tell the server what became of the announced child. A signal that is sent to a forked child from now on finds it,
 * since the child has sent HELLO. */
static void tell_outcome(struct call *call, long pid, int64_t number)
{
    struct reply reply;

    ASK(call->thread, &reply, OP_FORK_DONE, pid_told(call->thread->process, pid), number);
}

/* Copy the creator's registers, since the child must go on exactly where its creator has trapped. */
static void copy_registers(struct thread *child, const struct call *call)
{
    const struct sigcontext *from = &call->context->uc_mcontext;
    const uint8_t *fpu = (const uint8_t *)from->fpstate;

    child->start = (struct start_registers){
        .r8 = from->r8,
        .r9 = from->r9,
        .r10 = from->r10,
        .r11 = from->r11,
        .r12 = from->r12,
        .r13 = from->r13,
        .r14 = from->r14,
        .r15 = from->r15,
        .rdi = from->rdi,
        .rsi = from->rsi,
        .rbp = from->rbp,
        .rbx = from->rbx,
        .rdx = from->rdx,
        .rcx = from->rcx,
        .rip = from->rip,
        .mxcsr = 0x1f80,
        .fpu_control = 0x37f,
    };
    if (fpu != NULL) { /* struct _fpstate_64: cwd at 0, mxcsr at 24 */
        child->start.fpu_control = fpu[0] | (uint32_t)fpu[1] << 8;
        memcpy(&child->start.mxcsr, fpu + 24, 4);
    }
    child->birth.mask = call->mask;
}

/* Return whether the child will be in a PID namespace within its host's. */
static bool is_born_nested(const struct call *call, const struct clone_args *args)
{
    return pids_are_nested(call->thread->process) || call->thread->birth.next_nests || (args->flags & CLONE_NEWPID) != 0;
}

static struct process *new_process(void)
{
    long memory = NATIVE(mmap, NULL, sizeof(struct process), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory < 0)
        fatal("no memory for a child", NULL, memory);
    return (struct process *)memory;
}

/* Give a vfork-like child a process record of its own: it uses its creator's memory, but is another process. */
static void give_own_process(struct thread *child, const struct process *process)
{
    if (child->kept.copy == NULL)
        child->kept.copy = new_process();
    child->process = child->kept.copy;
    *child->process = *process;
    child->process->ids.pid = 0;
    child->process->main = child;
    child->process->dying = child->process->free = NULL;
    handoff_forget(child->process);
}

/* Take the record of a vfork-like child back, after its exec or end. */
static void take_back_process(struct thread *child, struct process *process)
{
    child->process = process;
    child->link.channel = child->link.epoll = child->strace.file =
        -1; /* these are descriptors of the child, not descriptors of this process with equal numbers */
    thread_release(child);
}

/* Return a record for an announced child; NULL if there is no memory, which the server is told. */
static struct thread *record_for(struct call *call, const struct announced *born)
{
    struct thread *child = thread_new(call->thread->process, born->pooled_channel, born->channel);

    if (child == NULL) {
        if (born->channel >= 0)
            NATIVE(close, descriptor_number(call->thread->process, born->channel));
        tell_outcome(call, -ENOMEM, born->number);
        return NULL;
    }
    child->link.slot = born->slot;
    child->charge.next = born->next_charge;
    child->cpu = call->thread->cpu;
    child->signals.hidden_mask = call->thread->signals.hidden_mask;
    seccomp_inherit(child, call->thread);
    copy_registers(child, call);
    child->tracee = born->is_traced ? (struct tracee){.is_traced = true, .due = SIGSTOP} : (struct tracee){0};
    child->end.alive_word = 1;
    return child;
}

/* Give a child without a stack of its own another stack for the time in the shim, where the creator's frame is still in
 * use. After that the child goes on where its creator's stack ends. */
static void lend_stack(struct thread *child, const struct call *call, struct clone_args *args)
{
    child->start.rsp = call->context->uc_mcontext.rsp;
    args->stack = (uint64_t)child->own_stack;
    args->stack_size = OWN_STACK_BYTES;
}

/* Make a child in the memory of its creator, which goes on after the child's exec or end: posix_spawn(3) gives it a
 * stack of its own, vfork(2) does not. Both processes wait for their turns at their slots, so that the child may send
 * HELLO as late as possible, and its creator sends no message. */
static long spawn_in_memory(struct call *call, struct clone_args *args)
{
    struct process *process = call->thread->process;
    bool has_stack = args->stack != 0;
    struct announced born = announce(call, has_stack ? FORK_VFORK : FORK_VFORK_IN_ORDER, args);
    bool is_quiet = born.slot != 0 && call->thread->link.slot != 0;
    struct thread *child;
    int64_t value;
    long result;

    if (born.number < 0)
        return born.number;
    child = record_for(call, &born);
    if (child == NULL)
        return -ENOMEM;
    give_own_process(child, process);
    child->process->random_state = born.seed;
    child->birth.is_nested = is_born_nested(call, args);
    child->birth.has_network = (args->flags & CLONE_NEWNET) != 0;
    child->pace.births =
        call->thread->pace.births; /* the exec of this child counts as one more in a loop of its creator, as that of a
                                    * forked child does */
    child->pace.hasty_births = call->thread->pace.hasty_births;
    child->pace.born_ns = call->thread->pace.born_ns;
    child->signals.alternate = call->thread->signals.alternate;
    child->link.owes_hello = is_quiet;
    child->birth.starts_known = is_quiet && !has_stack;
    child->birth.shares_files = (args->flags & CLONE_FILES) != 0;
    if (!has_stack)
        lend_stack(child, call, args);
    call->thread->link.has_turn = false;
    if (call->thread->policy.is_measured) /* other threads have turns, and compute, while the kernel keeps the creator
                                           * waiting */
        charge_turn_ends(call->thread);
    result = trap_clone(args, sizeof *args, child);
    NATIVE(close, descriptor_number(process, born.channel)); /* now: the channel closes when the child ends */
    if (is_quiet && result > 0)
        slot_wait(call->thread, &value);
    else
        tell_outcome(call, result, born.number);
    if (call->thread->policy.is_measured)
        charge_turn_begins(call->thread);
    take_back_process(child, process);
    return result;
}

/* Make a process in the memory of its creator, which goes on running. The records of the new process are never freed,
 * since nothing tells when they are not used any more. */
static long spawn_beside(struct call *call, struct clone_args *args)
{
    struct process *process = call->thread->process;
    struct announced born = announce(call, FORK_PROCESS, args);
    struct thread *child;
    long result;

    if (born.number < 0)
        return born.number;
    child = record_for(call, &born);
    if (child == NULL)
        return -ENOMEM;
    if (process->space.number == 0)
        process->space.number = born.number;
    give_own_process(child, process);
    child->process->space.is_guest = true;
    child->birth.is_nested = is_born_nested(call, args);
    child->birth.has_network = (args->flags & CLONE_NEWNET) != 0;
    child->birth.shares_files = (args->flags & CLONE_FILES) != 0;
    process->descriptors.are_shared |= child->birth.shares_files;
    child->process->descriptors.are_shared |= child->birth.shares_files;
    result = trap_clone(args, sizeof *args, child);
    if (result < 0 || !child->birth.shares_files)
        NATIVE(close, descriptor_number(process, born.channel));
    if (result < 0)
        take_back_process(child, process);
    tell_outcome(call, result, born.number);
    return result;
}

static long spawn_thread(struct call *call, struct clone_args *args)
{
    struct announced born = announce(call, FORK_THREAD, args);
    struct thread *child;
    long result;

    if (born.number < 0)
        return born.number;
    child = record_for(call, &born);
    if (child == NULL)
        return -ENOMEM;
    result = trap_clone(args, sizeof *args, child);
    if (result < 0) {
        child->link.pooled_channel = 0;
        thread_release(child);
        tell_outcome(call, result, born.number);
    } else if (born.slot != 0) { /* the thread finds its number in the slot, see slot_wait */
        slot_at(call->thread->process->page, born.slot)->value = pid_told(call->thread->process, result);
    }
    if (result > 0)
        tracee_event(call, PTRACE_EVENT_CLONE, result);
    return result;
}

/* Make a child with its own copy of the memory, on a stack of its own if it is given one; with CLONE_VFORK the parent
 * waits. */
static long spawn_copy(struct call *call, struct clone_args *args)
{
    bool waits = (args->flags & CLONE_VFORK) != 0;
    bool shares_files = (args->flags & CLONE_FILES) != 0;
    bool nests = is_born_nested(call, args);
    int event = birth_event(FORK_PROCESS, args);
    struct announced born = announce(call, FORK_PROCESS, args);
    struct wait wait = {.kind = PARK_VFORK, .deadline = NEVER, .a = (uint64_t)born.number};
    uint64_t stack = args->stack + args->stack_size;
    long pid;

    if (born.number < 0)
        return born.number;
    call->thread->process->descriptors.are_shared |= shares_files;
    args->stack = args->stack_size = 0;
    call->thread->birth.has_network = (args->flags & CLONE_NEWNET) != 0;
    args->flags &= ~(uint64_t)(CLONE_VFORK | CLONE_VM | CLONE_SIGHAND);
    pid = NATIVE(clone3, args, sizeof *args);
    if (pid == 0) {
        if (stack != 0)
            call->context->uc_mcontext.rsp = stack;
        forked_start(call, &born, shares_files, nests);
        return 0;
    }
    if (pid < 0 || !shares_files) /* if both share a table of descriptors, the child closes its channel itself */
        NATIVE(close, descriptor_number(call->thread->process, born.channel));
    tell_outcome(call, pid, born.number);
    if (pid > 0)
        tracee_event(call, event, pid);
    if (pid > 0 && waits)
        while (park(call, &wait) == WAKE_SIGNAL) /* signals do not interrupt a vfork */
            ;
    if (pid > 0 && waits)
        tracee_event(call, PTRACE_EVENT_VFORK_DONE, pid);
    return pid;
}

/* Return whether flags are missing that others need (clone(2)): a thread shares the handlers of signals, and a child
 * that shares these shares the memory. */
static bool lacks_company(uint64_t flags)
{
    return ((flags & CLONE_SIGHAND) != 0 && (flags & CLONE_VM) == 0) ||
           ((flags & CLONE_THREAD) != 0 && (flags & CLONE_SIGHAND) == 0);
}

static long spawn(struct call *call, struct clone_args *args)
{
    if ((args->flags & NAMESPACES_PREPARED) != 0 && !namespace_prepare(call->thread, args->flags))
        return -EPERM;
    if ((args->stack == 0) != (args->stack_size == 0) || lacks_company(args->flags))
        return -EINVAL;
    if ((args->flags & CLONE_OF_THREAD) == CLONE_OF_THREAD)
        return spawn_thread(call, args);
    /* A creator that waits in the kernel could not stop, so the child of a traced one has its own copy of the memory. */
    if ((args->flags & CLONE_VM) != 0 && (args->flags & CLONE_VFORK) != 0 && !call->thread->tracee.is_traced)
        return spawn_in_memory(call, args);
    if ((args->flags & CLONE_VM) != 0 && (args->flags & CLONE_VFORK) == 0 && args->stack != 0)
        return spawn_beside(call, args);
    return spawn_copy(call, args);
}

/* clone3 takes the lowest address and the size of a stack, clone takes its top. */
long sys_clone(struct call *call)
{
    struct clone_args args = {
        .flags = (uint64_t)call->a[0] & 0xffffff00 & ~(uint64_t)CLONE_DETACHED,
        .exit_signal = call->a[0] & (CLONE_THREAD | CLONE_PARENT) ? 0 : (uint64_t)call->a[0] & 0xff,
        .parent_tid = (uint64_t)call->a[2],
        .pidfd = (uint64_t)call->a[2],
        .child_tid = (uint64_t)call->a[3],
        .tls = (uint64_t)call->a[4],
    };

    if (call->a[1] != 0) {
        args.stack_size = 256;
        args.stack = (uint64_t)call->a[1] - args.stack_size;
    }
    return spawn(call, &args);
}

long sys_clone3(struct call *call)
{
    struct clone_args args;
    size_t size = (size_t)call->a[1];

    if (size > CLONE3_BYTES_MAX)
        return -E2BIG;
    if (size < CLONE_ARGS_SIZE_VER0)
        return -EINVAL;
    for (size_t at = sizeof args; at < size; at++) /* fields that only newer kernels know */
        if (((const uint8_t *)call->a[0])[at] != 0)
            return -E2BIG;
    memset(&args, 0, sizeof args);
    memcpy(&args, (void *)call->a[0], size < sizeof args ? size : sizeof args);
    if ((args.flags & CLONE_INTO_CGROUP) != 0) {
        long result = cgroup_for_child(call->thread, (long)args.cgroup);

        if (result != 0)
            return result;
        args.flags &= ~(uint64_t)CLONE_INTO_CGROUP;
    }
    return spawn(call, &args);
}

long sys_fork(struct call *call)
{
    struct clone_args args = {.exit_signal = SIGCHLD};

    return spawn_copy(call, &args);
}

long sys_vfork(struct call *call)
{
    struct clone_args args = {.flags = CLONE_VFORK | CLONE_VM, .exit_signal = SIGCHLD};

    return spawn(call, &args);
}
