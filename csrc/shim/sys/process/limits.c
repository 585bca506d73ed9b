/* Resource limits, and the use of resources. */
#include "shim/core/channel.h"
#include "shim/pids/pids.h"
#include "shim/strace/tracing.h"
#include "shim/core/clock.h"
#include "shim/sys/process/process.h"

struct limits {
    uint64_t soft;
    uint64_t hard;
};

#define FILES_MAX 1048576 /* fs.nr_open */

/* Answer for RLIMIT_NOFILE as the application sees it. The kernel's hard limit is higher, for the shim's own descriptors. */
static long nofile_limits(struct call *call, const struct limits *wanted, struct limits *old)
{
    struct process *process = call->thread->process;
    struct limits before = {process->descriptors.soft, process->descriptors.hard};
    struct reply reply;

    if ((wanted != NULL && is_bad_pointer(wanted)) || (old != NULL && is_bad_pointer(old)))
        return -EFAULT;
    if (wanted != NULL) {
        if (wanted->soft > wanted->hard)
            return -EINVAL;
        if (wanted->hard > FILES_MAX || (wanted->hard > before.hard && NATIVE(geteuid) != 0))
            return -EPERM;
        process->descriptors.soft = wanted->soft;
        process->descriptors.hard = wanted->hard;
        descriptors_limit(process);
        ASK(call->thread, &reply, OP_NOFILE, (int64_t)wanted->soft, (int64_t)wanted->hard, process->descriptors.floor);
    }
    if (old != NULL)
        *old = before;
    return 0;
}

/* Ask the server for another process's RLIMIT_NOFILE, or set it. The former values are written to `before`. */
static long ask_nofile(struct call *call, long pid, const struct limits *wanted, struct limits *before)
{
    static const struct limits none = {RLIM_INFINITY, RLIM_INFINITY};
    struct reply reply;
    long result;

    wanted = wanted == NULL ? &none : wanted;
    result = ASK(call->thread, &reply, OP_RAISE_LIMIT, pid_told(call->thread->process, pid), RLIMIT_NOFILE,
                 (int64_t)wanted->soft, (int64_t)wanted->hard);
    if (result == 0)
        *before = (struct limits){(uint64_t)reply_number(&reply, 1), (uint64_t)reply_number(&reply, 2)};
    return result;
}

/* Answer for another process's RLIMIT_NOFILE, for which the kernel has a higher limit. The server stores the limit that
 * the process sees, and the process gets a change at its next exec: container runtimes limit a container before it
 * execs its program. */
static long nofile_of_other(struct call *call, long pid, const struct limits *wanted, struct limits *old)
{
    struct limits before;
    long result = NATIVE(prlimit64, pid, RLIMIT_NOFILE, NULL, &before); /* may the caller ask about that process? */

    if (result != 0)
        return result;
    if ((wanted != NULL && is_bad_pointer(wanted)) || (old != NULL && is_bad_pointer(old)))
        return -EFAULT;
    if (wanted != NULL && wanted->soft > wanted->hard)
        return -EINVAL;
    result = ask_nofile(call, pid, NULL, &before);
    if (result == 0 && wanted != NULL)
        result = wanted->hard > FILES_MAX || (wanted->hard > before.hard && NATIVE(geteuid) != 0)
                     ? -EPERM
                     : ask_nofile(call, pid, wanted, &before);
    if (result == 0 && old != NULL)
        *old = before;
    return result;
}

/* Answer for RLIMIT_CPU of a process whose computing is charged: the server keeps this limit, since it counts charges.
 * The kernel's limit, which would count the real computer's time, is removed. Returns false if the kernel must answer. */
static bool cpu_limits(struct call *call, long pid, const struct limits *wanted, struct limits *old, long *result)
{
    struct limits before, after = {0};
    struct reply reply;

    if (call->thread->process->page->charge_least_ns == 0)
        return false;
    *result = NATIVE(prlimit64, pid, RLIMIT_CPU, NULL, &before); /* does it exist, and may the caller ask? */
    if (*result != 0)
        return true;
    if ((wanted != NULL && is_bad_pointer(wanted)) || (old != NULL && is_bad_pointer(old))) {
        *result = -EFAULT;
        return true;
    }
    if (ASK(call->thread, &reply, OP_CPU_LIMIT, pid_told(call->thread->process, pid), 0, 0, 0) != 0)
        return false;
    before = (struct limits){(uint64_t)reply_number(&reply, 1), (uint64_t)reply_number(&reply, 2)};
    if (wanted != NULL)
        after = *wanted;
    if (after.soft > after.hard)
        *result = -EINVAL;
    else if (wanted != NULL && after.hard > before.hard && NATIVE(geteuid) != 0)
        *result = -EPERM;
    else if (wanted != NULL)
        *result = ASK(call->thread, &reply, OP_CPU_LIMIT, pid_told(call->thread->process, pid), 1, (int64_t)after.soft,
                      (int64_t)after.hard);
    if (*result == 0 && old != NULL)
        *old = before;
    return true;
}

/* Have the server, which is outside of the host, raise a hard limit: in a contained host the kernel lets not even root
 * do so. */
static long raised(struct call *call, long pid, long which, const struct limits *wanted, struct limits *old, long result)
{
    struct limits before;
    struct reply reply;

    if (result != -EPERM || (call->thread->process->flags & HELLO_FLAG_CONTAINED) == 0 || wanted == NULL ||
        NATIVE(geteuid) != 0)
        return result;
    if (NATIVE(prlimit64, pid, which, NULL, &before) != 0)
        return result;
    result = ASK(call->thread, &reply, OP_RAISE_LIMIT, pid == 0 ? 0 : pid_told(call->thread->process, pid), which,
                 (int64_t)wanted->soft, (int64_t)wanted->hard);
    if (result == 0 && old != NULL)
        *old = before;
    return result;
}

long sys_getrlimit(struct call *call)
{
    long result;

    if (call->a[0] == RLIMIT_NOFILE)
        return nofile_limits(call, NULL, (struct limits *)call->a[1]);
    if (call->a[0] == RLIMIT_CPU && cpu_limits(call, 0, NULL, (struct limits *)call->a[1], &result))
        return result;
    return NATIVE(getrlimit, call->a[0], call->a[1]);
}

long sys_setrlimit(struct call *call)
{
    long result;

    if (call->a[0] == RLIMIT_NOFILE)
        return nofile_limits(call, (const struct limits *)call->a[1], NULL);
    if (call->a[0] == RLIMIT_CPU && cpu_limits(call, 0, (const struct limits *)call->a[1], NULL, &result))
        return result;
    result = raised(call, 0, call->a[0], (const struct limits *)call->a[1], NULL, NATIVE(setrlimit, call->a[0], call->a[1]));
    if (call->a[0] == RLIMIT_FSIZE)
        strace_limited(call->thread->process);
    return result;
}

long sys_prlimit64(struct call *call)
{
    long result;

    if (call->a[1] == RLIMIT_NOFILE && (call->a[0] == 0 || call->a[0] == call->thread->process->ids.pid))
        return nofile_limits(call, (const struct limits *)call->a[2], (struct limits *)call->a[3]);
    if (call->a[1] == RLIMIT_NOFILE)
        return nofile_of_other(call, call->a[0], (const struct limits *)call->a[2], (struct limits *)call->a[3]);
    if (call->a[1] == RLIMIT_CPU &&
        cpu_limits(call, call->a[0], (const struct limits *)call->a[2], (struct limits *)call->a[3], &result))
        return result;
    result = raised(call, call->a[0], call->a[1], (const struct limits *)call->a[2], (struct limits *)call->a[3],
                    NATIVE(prlimit64, call->a[0], call->a[1], call->a[2], call->a[3]));
    if (call->a[1] == RLIMIT_FSIZE)
        strace_limited(call->thread->process);
    return result;
}

/* Return the virtual time (ns) that computing has taken: of the thread, or of the whole process. */
static uint64_t computed_ns(const struct thread *thread, uint64_t who)
{
    return who == RUSAGE_THREAD && thread->policy.is_charged ? thread->charge.paid_ns : thread->process->cpu.computed_ns;
}

/* Computing takes no time, unless it was charged (turn/price.c, turn/cpu_charge.c). */
long sys_getrusage(struct call *call)
{
    long result = NATIVE(getrusage, call->a[0], call->a[1]);

    if (result == 0) {
        if (call->a[0] == RUSAGE_CHILDREN)
            usage_of_child(call, 0, (void *)call->a[1]);
        else
            usage_forget((void *)call->a[1]);
        if (call->a[0] == RUSAGE_SELF || call->a[0] == RUSAGE_THREAD)
            *(struct timeval *)call->a[1] = to_timeval(computed_ns(call->thread, call->a[0]));
    }
    return result;
}
