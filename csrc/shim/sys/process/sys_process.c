/* Threads, forks, ends and waits. Whoever is born is announced first, so that its place in the order is the server's. */
#include "shim.h"
#include "slots.h"

#define CLONE_OF_THREAD (CLONE_VM | CLONE_THREAD)

/* What the server says of a child that is about to be born. */
struct announced {
    int64_t number; /* or -errno */
    uint32_t slot;
    int64_t seat;
    int channel; /* -1: what a thread has left at that seat */
};

static struct announced announce(struct call *call, enum simunix_fork kind)
{
    struct reply reply;
    struct announced child = {.number = ASK(call->thread, &reply, OP_FORK, kind), .channel = -1};

    if (child.number < 0)
        return child;
    child.slot = (uint32_t)reply_number(&reply, 1);
    child.seat = kind == FORK_THREAD ? reply_number(&reply, 2) : 0;
    if (reply.fd >= 0)
        child.channel = descriptor_hide(reply.fd, call->thread->process->descriptor_floor);
    return child;
}

/* What became of the announced child. Whoever sends a forked one a signal from now on finds it: it has said who it is. */
static void tell_outcome(struct call *call, long pid, int64_t number)
{
    struct reply reply;

    ASK(call->thread, &reply, OP_FORK_DONE, pid, number);
}

/* The child must go on exactly where its creator trapped, with the creator's registers. */
static void copy_registers(struct thread *child, const struct call *call)
{
    const struct sigcontext *from = &call->context->uc_mcontext;
    const uint8_t *fpu = (const uint8_t *)from->fpstate;

    child->start = (struct start_registers){
        .r8 = from->r8, .r9 = from->r9, .r10 = from->r10, .r11 = from->r11, .r12 = from->r12, .r13 = from->r13,
        .r14 = from->r14, .r15 = from->r15, .rdi = from->rdi, .rsi = from->rsi, .rbp = from->rbp, .rbx = from->rbx,
        .rdx = from->rdx, .rcx = from->rcx, .rip = from->rip, .mxcsr = 0x1f80, .fpu_control = 0x37f,
    };
    if (fpu != NULL) { /* struct _fpstate_64: cwd at 0, mxcsr at 24 */
        child->start.fpu_control = fpu[0] | (uint32_t)fpu[1] << 8;
        memcpy(&child->start.mxcsr, fpu + 24, 4);
    }
    child->start_mask = call->mask;
}

/* A thread, or a vfork-like child (posix_spawn), on a stack of its own in the same memory. */
static long spawn_on_stack(struct call *call, struct clone_args *args, enum simunix_fork kind)
{
    struct process *process = call->thread->process;
    struct announced born = announce(call, kind);
    struct thread *child;
    long result;

    if (born.number < 0)
        return born.number;
    child = thread_new(process, born.seat, born.channel);
    if (child == NULL) {
        if (born.channel >= 0)
            NATIVE(close, born.channel);
        tell_outcome(call, -ENOMEM, born.number);
        return -ENOMEM;
    }
    child->slot = born.slot;
    copy_registers(child, call);
    if (kind == FORK_VFORK) {
        long memory = NATIVE(mmap, NULL, sizeof *process, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (memory < 0)
            fatal("no memory for a child", NULL, memory);
        child->process = (struct process *)memory;
        *child->process = *process;
        child->process->pid = 0;
        child->process->dying = child->process->free = NULL;
        handoff_forget(child->process);
        call->thread->has_turn = false;
    }
    child->alive_word = 1;
    result = trap_clone(args, sizeof *args, child);
    if (kind == FORK_VFORK) { /* back only after the child's exec or end */
        NATIVE(munmap, child->process, sizeof *process);
        child->process = process;
        child->epoll = child->trace = -1; /* the child's own descriptors, not ours of these numbers */
        thread_release(child);
        tell_outcome(call, result, born.number);
    } else if (result < 0) {
        child->seat = 0;
        thread_release(child);
        tell_outcome(call, result, born.number);
    } else if (born.slot != 0) {
        slot_at(process->page, born.slot)->value = result;
    }
    return result;
}

/* First code of a forked child, in its copy of everything: become the announced actor, wait for the turn. */
static void start_forked(struct call *call, int channel, uint32_t slot)
{
    struct thread *thread = call->thread;
    struct process *process = thread->process;
    struct msgpack_writer writer;
    struct reply reply;

    NATIVE(close_range, process->descriptor_floor, channel - 1, 0);
    NATIVE(close_range, channel + 1, ~0U, 0);
    thread->channel = channel;
    thread->slot = slot;
    thread->has_turn = false;
    thread->epoll = -1;
    thread->seat = 0;
    handoff_forget(process);
    process->pid = (int)NATIVE(getpid);
    thread->tid = (int)NATIVE(gettid);
    process->dying = process->free = NULL; /* records of threads that do not exist here; their memory stays */
    memset(process->waiters, 0, sizeof process->waiters);
    trap_arm();
    request_start(thread, &writer, OP_HELLO, 4);
    msgpack_put_int(&writer, HELLO_FORKED);
    msgpack_put_int(&writer, process->pid);
    msgpack_put_int(&writer, thread->tid);
    msgpack_put_text(&writer, "", 0);
    request_call(thread, &writer, &reply);
    process->random_state = (uint64_t)reply_number(&reply, 1);
    thread->looks_for_stops = true;
    strace_open(thread);
}

/* vfork on the caller's own stack runs as fork (the child would overwrite our frame); the parent waits all the same. */
static long spawn_copy(struct call *call, struct clone_args *args)
{
    bool waits = (args->flags & CLONE_VFORK) != 0;
    struct announced born = announce(call, FORK_PROCESS);
    struct wait wait = {.kind = PARK_VFORK, .deadline = NEVER, .a = (uint64_t)born.number};
    long pid;

    if (born.number < 0)
        return born.number;
    args->flags &= ~(uint64_t)(CLONE_VFORK | CLONE_VM);
    pid = NATIVE(clone3, args, sizeof *args);
    if (pid == 0) {
        start_forked(call, born.channel, born.slot);
        return 0;
    }
    NATIVE(close, born.channel);
    tell_outcome(call, pid, born.number);
    if (pid > 0 && waits)
        while (park(call, &wait) == WAKE_SIGNAL) /* a vfork is not interrupted */
            ;
    return pid;
}

static long spawn(struct call *call, struct clone_args *args)
{
    if (args->flags & CLONE_NEWPID) {
        warn_once(call->thread, WARN_REFUSED, "clone(CLONE_NEWPID): the server knows processes by the host's pids", NULL);
        return -EPERM;
    }
    if ((args->flags & CLONE_OF_THREAD) == CLONE_OF_THREAD)
        return spawn_on_stack(call, args, FORK_THREAD);
    if ((args->flags & CLONE_VM) != 0 && args->stack != 0) {
        args->flags |= CLONE_VFORK;
        return spawn_on_stack(call, args, FORK_VFORK);
    }
    return spawn_copy(call, args);
}

/* clone3 takes the lowest address and the size of a stack, clone its top. */
long sys_clone(struct call *call)
{
    struct clone_args args = {
        .flags = (uint64_t)call->a[0] & 0xffffff00 & ~(uint64_t)CLONE_DETACHED,
        .exit_signal = (uint64_t)call->a[0] & 0xff,
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

    if (is_bad_pointer((void *)call->a[0]))
        return -EFAULT;
    if (size < CLONE_ARGS_SIZE_VER0 || size > sizeof args)
        return -EINVAL;
    memset(&args, 0, sizeof args);
    memcpy(&args, (void *)call->a[0], size);
    return spawn(call, &args);
}

long sys_fork(struct call *call)
{
    struct clone_args args = {.exit_signal = SIGCHLD};

    return spawn_copy(call, &args);
}

long sys_vfork(struct call *call)
{
    struct clone_args args = {.flags = CLONE_VFORK, .exit_signal = SIGCHLD};

    return spawn_copy(call, &args);
}

/* The join word that the kernel would clear becomes ours to clear, once the kernel has cleared a word in the record. */
static void prepare_burial(struct thread *thread)
{
    uint32_t *join_word = NULL;

    NATIVE(prctl, PR_GET_TID_ADDRESS, &join_word);
    thread->join_word = join_word;
    thread->alive_word = 1;
    NATIVE(set_tid_address, &thread->alive_word);
    thread->next = thread->process->dying;
    thread->process->dying = thread;
}

/* After the message nothing of this thread's may be touched: whoever has the turn now may give its memory away. */
long sys_exit(struct call *call)
{
    struct thread *thread = call->thread;
    struct msgpack_writer writer;

    futex_release_robust(call);
    prepare_burial(thread);
    request_start(thread, &writer, OP_THREAD_EXIT, 2);
    msgpack_put_int(&writer, call->a[0] & 0xff);
    msgpack_put_int(&writer, (int64_t)thread->join_word);
    request_post(thread, &writer);
    for (;;)
        NATIVE(exit, call->a[0]);
}

long sys_exit_group(struct call *call)
{
    struct msgpack_writer writer;

    request_start(call->thread, &writer, OP_EXIT, 1);
    msgpack_put_int(&writer, call->a[0] & 0xff);
    request_post(call->thread, &writer);
    for (;;)
        NATIVE(exit_group, call->a[0]);
}

/* Ask without waiting; children change state only in their own turns or the server's, which then wakes us. */
long sys_wait4(struct call *call)
{
    struct wait wait = {.kind = PARK_CHILD, .deadline = NEVER};

    for (;;) {
        long result = NATIVE(wait4, call->a[0], call->a[1], call->a[2] | WNOHANG, call->a[3]);

        if (result > 0 && call->a[3] != 0)
            usage_forget((void *)call->a[3]);
        if (result != 0)
            return result;
        if (call->a[2] & WNOHANG) {
            clock_charge_poll(call);
            return 0;
        }
        result = wait_on(call, &wait, true);
        if (result < 0)
            return result;
    }
}

long sys_waitid(struct call *call)
{
    struct wait wait = {.kind = PARK_CHILD, .deadline = NEVER};
    siginfo_t info;

    for (;;) {
        long result;

        memset(&info, 0, sizeof info);
        result = NATIVE(waitid, call->a[0], call->a[1], &info, call->a[3] | WNOHANG, call->a[4]);
        if (result != 0 || info.si_pid != 0 || (call->a[3] & WNOHANG) != 0) {
            if (result == 0 && info.si_pid == 0)
                clock_charge_poll(call);
            if (result == 0 && call->a[2] != 0)
                memcpy((void *)call->a[2], &info, sizeof info);
            if (result == 0 && call->a[4] != 0)
                usage_forget((void *)call->a[4]);
            return result;
        }
        result = wait_on(call, &wait, true);
        if (result < 0)
            return result;
    }
}

long sys_sched_yield(struct call *call)
{
    const struct process *process = call->thread->process;
    const struct simunix_clock_page *page = process->page;
    struct wait wait = {.kind = PARK_YIELD, .deadline = NEVER};

    clock_charge_poll(call);
    if (page->lookahead_ns <= page->now_ns || page->due_ns <= page->now_ns || process->ready != NULL)
        park(call, &wait);
    return 0;
}

/* Filters would forbid the trap handler's own return; dispatch is ours. All else is the kernel's. */
long sys_prctl(struct call *call)
{
    if (call->a[0] == PR_SET_SECCOMP) {
        warn_once(call->thread, WARN_REFUSED, "prctl(PR_SET_SECCOMP): accepted, not installed", NULL);
        return 0;
    }
    if (call->a[0] == PR_SET_SYSCALL_USER_DISPATCH) {
        warn_once(call->thread, WARN_REFUSED, "prctl(PR_SET_SYSCALL_USER_DISPATCH)", NULL);
        return -EINVAL;
    }
    if (call->a[0] == PR_SET_TSC)
        return time_stamp_set(call->thread->process, call->a[1]);
    if (call->a[0] == PR_SIMUNIX_COMPUTE)
        return compute(call, (uint64_t *)call->a[1]);
    if (call->a[0] == PR_GET_TSC)
        return time_stamp_get(call->thread->process, (int *)call->a[1]);
    return NATIVE(prctl, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4]);
}

long sys_seccomp(struct call *call)
{
    if (call->a[0] != 1) /* SECCOMP_SET_MODE_FILTER */
        return -EINVAL;
    warn_once(call->thread, WARN_REFUSED, "seccomp: accepted, not installed", NULL);
    return 0;
}

long sys_arch_prctl(struct call *call)
{
    if (call->a[0] == ARCH_SET_GS_CODE) { /* the GS base holds the shim's record */
        warn_once(call->thread, WARN_REFUSED, "arch_prctl(ARCH_SET_GS)", NULL);
        return -EPERM;
    }
    return NATIVE(arch_prctl, call->a[0], call->a[1]);
}
