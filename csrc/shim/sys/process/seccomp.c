/* seccomp(2): every filter of a thread is run for each of the thread's calls, and the strictest answer counts.
 *
 * From the first filter on all calls of the process trap, so that a handler of SIGSYS finds the registers of the call.
 * A thread has the filters of its creator. A program after an exec has those of the program before, which it gets in a
 * file. Actions of the C library, the vDSO and the shim that need no system call of the program are not filtered, nor
 * is rt_sigreturn(2). */
#include "shim/sys/process/seccomp.h"

#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/process/process.h"

#include <linux/audit.h>

#define SIGINFO_SECCOMP 1 /* SYS_SECCOMP */
#define PAGE 4096UL

static const uint32_t actions[] = {
    SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,  SECCOMP_RET_ERRNO,
    SECCOMP_RET_TRACE,        SECCOMP_RET_LOG,         SECCOMP_RET_ALLOW,
};

/* The fields of siginfo_t about a call in a SIGSYS, after the head. */
struct told {
    int signal, error, code, unused;
    uint64_t address;
    int number;
    uint32_t architecture;
};

/* Return the thread's filters, the last one first. With SECCOMP_FILTER_FLAG_TSYNC, one thread has set its filters for
 * all threads. */
static struct filter *filters_of(struct thread *thread)
{
    struct process *process = thread->process;

    if (thread->seccomp.synced != process->seccomp.synced) {
        thread->seccomp.synced = process->seccomp.synced;
        thread->seccomp.filters = process->seccomp.filters;
    }
    return thread->seccomp.filters;
}

long seccomp_mode(struct thread *thread)
{
    return thread->seccomp.is_strict    ? SECCOMP_MODE_STRICT
           : filters_of(thread) != NULL ? SECCOMP_MODE_FILTER
                                        : SECCOMP_MODE_DISABLED;
}

unsigned seccomp_count(struct thread *thread)
{
    unsigned count = 0;

    for (const struct filter *filter = filters_of(thread); filter != NULL; filter = filter->before)
        count++;
    return count;
}

void seccomp_inherit(struct thread *child, struct thread *creator)
{
    child->seccomp.filters = filters_of(creator);
    child->seccomp.synced = creator->seccomp.synced;
    child->seccomp.is_strict = creator->seccomp.is_strict;
}

/* Make all calls of the process trap from now on. */
static void take_traps(struct process *process)
{
    if (!process->traps.all && process->traps.take != NULL)
        process->traps.take();
    process->traps.all = true;
}

static void tell_server(struct thread *thread)
{
    struct reply reply;

    ASK(thread, &reply, OP_FILTERS, seccomp_mode(thread), seccomp_count(thread));
}

static uint32_t answer_of_filters(const struct filter *filter, const struct seccomp_data *data)
{
    uint32_t strictest = SECCOMP_RET_ALLOW;

    for (; filter != NULL; filter = filter->before) {
        uint32_t answer = bpf_run(filter->program, data);

        if ((int32_t)(answer & SECCOMP_RET_ACTION_FULL) < (int32_t)(strictest & SECCOMP_RET_ACTION_FULL))
            strictest = answer;
    }
    return strictest;
}

/* End the process by a signal. The server is told of the signal, since it would otherwise take the signal for one from
 * outside of the emulation. */
static long die(struct call *call, int signal)
{
    struct kernel_sigaction action = {.handler = (void *)SIG_DFL};
    struct thread *thread = call->thread;
    uint64_t only = SIGNAL_BIT(signal);
    struct reply reply;

    ASK(thread, &reply, OP_SIGNAL, thread->process->ids.host_pid, thread->ids.host_tid, signal);
    NATIVE(rt_sigaction, signal, &action, NULL, 8);
    NATIVE(tgkill, thread->process->ids.pid, thread->ids.tid, signal);
    NATIVE(rt_sigprocmask, SIG_UNBLOCK, &only, NULL, 8);
    return -ENOSYS;
}

/* Return whether the process has one thread, by the number of links of the folder of all threads. */
static bool is_alone(void)
{
    struct stat status;

    return NATIVE(stat, "/proc/self/task", &status) != 0 || status.st_nlink <= 3;
}

static long end_thread(struct call *call)
{
    if (is_alone())
        return die(call, SIGSYS);
    call->a[0] = SIGSYS;
    return sys_exit(call);
}

/* Send SIGSYS to the application's handler, which may write the call's result into the frame. Until then the result is
 * the call's number. */
static long trap(struct call *call, const struct seccomp_data *data, uint32_t error)
{
    union {
        siginfo_t info;
        struct told told;
    } sent = {.told = {.signal = SIGSYS,
                       .error = (int)error,
                       .code = SIGINFO_SECCOMP,
                       .address = data->instruction_pointer,
                       .number = data->nr,
                       .architecture = data->arch}};

    NATIVE(rt_tgsigqueueinfo, call->thread->process->ids.pid, call->thread->ids.tid, SIGSYS, &sent.info);
    return call->number;
}

/* Return whether SECCOMP_MODE_STRICT allows a call; every other call kills the process. */
static bool is_strictly_right(long number)
{
    return number == __NR_read || number == __NR_write || number == __NR_exit || number == __NR_rt_sigreturn;
}

/* Return whether the call may be made. If not, `result` is the result of the call. */
bool seccomp_admits(struct call *call, long *result)
{
    struct seccomp_data data = {.nr = (int)call->number, .arch = AUDIT_ARCH_X86_64};
    const struct filter *filters = filters_of(call->thread);
    uint32_t answer;

    if (call->thread->seccomp.is_strict && !is_strictly_right(call->number)) {
        *result = die(call, SIGKILL);
        return false;
    }
    if (filters == NULL || call->number == __NR_rt_sigreturn)
        return true;
    data.instruction_pointer = call->context != NULL ? call->context->uc_mcontext.rip : 0;
    for (int i = 0; i < 6; i++)
        data.args[i] = (uint64_t)call->a[i];
    answer = answer_of_filters(filters, &data);
    switch (answer & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
        return true;
    case SECCOMP_RET_ERRNO:
        *result = -(long)((answer & SECCOMP_RET_DATA) < 4095 ? answer & SECCOMP_RET_DATA : 4095);
        return false;
    case SECCOMP_RET_TRAP:
        *result = trap(call, &data, answer & SECCOMP_RET_DATA);
        return false;
    case SECCOMP_RET_TRACE: /* no tracer has asked for these, and no process listens to notifications */
    case SECCOMP_RET_USER_NOTIF:
        *result = -ENOSYS;
        return false;
    case SECCOMP_RET_KILL_THREAD:
        *result = end_thread(call);
        return false;
    default:
        *result = die(call, SIGSYS);
        return false;
    }
}

static long action_available(const uint32_t *action)
{
    if (is_bad_pointer(action))
        return -EFAULT;
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (actions[i] == *action)
            return 0;
    return -EOPNOTSUPP;
}

static long set_strict(struct thread *thread)
{
    if (seccomp_mode(thread) == SECCOMP_MODE_FILTER)
        return -EINVAL;
    take_traps(thread->process);
    thread->seccomp.is_strict = true;
    tell_server(thread);
    return 0;
}

/* Return the address of a copy of the program with its head; negative: -errno. */
static long copy_filter(const struct sock_fprog *given)
{
    uint64_t bytes = given->len * sizeof(struct sock_filter);
    struct filter *filter;
    long memory;

    if (given->filter == NULL || given->len == 0 || given->len > BPF_MAXINSNS)
        return -EINVAL;
    if (is_bad_pointer(given->filter))
        return -EFAULT;
    if (!bpf_is_right(given->filter, given->len))
        return -EINVAL;
    memory = NATIVE(mmap, NULL, sizeof *filter + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory < 0)
        return -ENOMEM;
    filter = (struct filter *)memory;
    filter->length = given->len;
    memcpy(filter->program, given->filter, bytes);
    return memory;
}

static long add_filter(struct call *call, uint64_t flags, const struct sock_fprog *given)
{
    struct thread *thread = call->thread;
    struct process *process = thread->process;
    struct filter *filter;
    long copied;

    if ((flags & ~(uint64_t)(SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW)) != 0) {
        if ((flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0 && given != NULL /* libseccomp asks which actions exist */)
            warn_once(thread, WARN_REFUSED, "seccomp(SECCOMP_FILTER_FLAG_NEW_LISTENER): a call would wait in the kernel", NULL);
        return -EINVAL;
    }
    if (is_bad_pointer(given))
        return -EFAULT;
    if (thread->seccomp.is_strict)
        return -EINVAL;
    if (NATIVE(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 && NATIVE(geteuid) != 0)
        return -EACCES;
    copied = copy_filter(given);
    if (copied < 0)
        return copied;
    filter = (struct filter *)copied;
    filter->before = filters_of(thread);
    thread->seccomp.filters = filter;
    if ((flags & SECCOMP_FILTER_FLAG_TSYNC) != 0) {
        process->seccomp.filters = filter;
        thread->seccomp.synced = ++process->seccomp.synced;
    }
    take_traps(process);
    tell_server(thread);
    return 0;
}

long seccomp_set(struct call *call, unsigned operation, uint64_t flags, const struct sock_fprog *given)
{
    switch (operation) {
    case SECCOMP_SET_MODE_STRICT:
        return flags == 0 && given == NULL ? set_strict(call->thread) : -EINVAL;
    case SECCOMP_SET_MODE_FILTER:
        return add_filter(call, flags, given);
    case SECCOMP_GET_ACTION_AVAIL:
        return flags == 0 ? action_available((const uint32_t *)given) : -EINVAL;
    default:
        return -EINVAL;
    }
}

long sys_seccomp(struct call *call)
{
    return seccomp_set(call, (unsigned)call->a[0], (uint64_t)call->a[1], (const struct sock_fprog *)call->a[2]);
}

static uint64_t size_of(const struct filter *filter)
{
    return sizeof *filter + filter->length * sizeof filter->program[0];
}

/* Return a file with the thread's filters, the last one first, for the next program of the process; -1: there are none. */
int seccomp_hand_on(struct thread *thread)
{
    struct process *process = thread->process;
    const struct filter *filter = filters_of(thread);
    long file, hidden;

    if (filter == NULL)
        return -1;
    descriptors_raise();
    file = NATIVE(memfd_create, "filters", 0);
    hidden = NATIVE(fcntl, file, F_DUPFD, process->descriptors.floor);
    NATIVE(close, file);
    descriptors_limit(process);
    if (hidden < 0)
        fatal("the filters of system calls cannot be handed on", NULL, hidden);
    for (; filter != NULL; filter = filter->before)
        NATIVE(write, hidden, filter, size_of(filter));
    return (int)hidden;
}

/* Take over the filters of the program before the exec. */
void seccomp_adopt(struct thread *thread, int fd)
{
    struct stat status = {0};
    struct filter **to = &thread->seccomp.filters;
    uint64_t at = 0;
    long memory;

    NATIVE(fstat, fd, &status);
    memory = NATIVE(mmap, NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    NATIVE(close, fd);
    if (memory < 0)
        fatal("the filters of system calls cannot be taken over", NULL, memory);
    while (at < (uint64_t)status.st_size) {
        *to = (struct filter *)(memory + (long)at);
        at += size_of(*to);
        to = &(*to)->before;
    }
    *to = NULL;
    take_traps(thread->process);
}
