/* What the emulated host says of itself: name, processors, memory, limits. */
#include "shim.h"

struct uname_result {
    char member[6][65];
};

/* Where the UTS namespace is not the host's own, the name that the kernel tells is replaced. */
long sys_uname(struct call *call)
{
    struct uname_result *result = (void *)call->a[0];
    struct process *process = call->thread->process;
    long status = NATIVE(uname, result);

    if (status == 0 && (process->flags & HELLO_FLAG_FAKE_NAME))
        memcpy(result->member[1], process->host_name, sizeof process->host_name);
    return status;
}

struct sysinfo_result {
    int64_t uptime;
    uint64_t loads[3];
    uint64_t total_ram, free_ram, shared_ram, buffer_ram, total_swap, free_swap;
    uint16_t processes, pad;
    uint64_t total_high, free_high;
    uint32_t unit;
};

long sys_sysinfo(struct call *call)
{
    struct sysinfo_result *result = (void *)call->a[0];
    struct process *process = call->thread->process;

    if (is_bad_pointer(result))
        return -EFAULT;
    *result = (struct sysinfo_result){
        .uptime = clock_read(call->thread, CLOCK_MONOTONIC) / SECOND_NS,
        .total_ram = process->memory_bytes,
        .free_ram = process->memory_bytes / 2,
        .processes = 100,
        .unit = 1,
    };
    return 0;
}

/* All actors share one real processor; the application sees, and may narrow, the emulated host's. */
long sys_sched_getaffinity(struct call *call)
{
    struct process *process = call->thread->process;
    uint64_t mask[16] = {process->affinity};
    size_t size = process->cpus > 64 ? ((size_t)process->cpus + 63) / 64 * 8 : 8;

    if ((int)call->a[0] < 0)
        return -ESRCH;
    if ((size_t)call->a[1] < size || (call->a[1] & 7) != 0 || size > sizeof mask)
        return -EINVAL;
    if (is_bad_pointer((void *)call->a[2]))
        return -EFAULT;
    for (int cpu = 64; cpu < process->cpus; cpu++)
        mask[cpu / 64] |= 1UL << (cpu % 64);
    memcpy((void *)call->a[2], mask, size);
    return (long)size;
}

long sys_sched_setaffinity(struct call *call)
{
    struct process *process = call->thread->process;
    uint64_t existing = process->cpus >= 64 ? ~0UL : (1UL << process->cpus) - 1;
    uint64_t wanted = 0;
    size_t size = (size_t)call->a[1] < sizeof wanted ? (size_t)call->a[1] : sizeof wanted;

    if ((int)call->a[0] < 0)
        return -ESRCH;
    if (is_bad_pointer((void *)call->a[2]))
        return -EFAULT;
    memcpy(&wanted, (void *)call->a[2], size);
    if ((wanted & existing) == 0)
        return -EINVAL;
    if (call->a[0] == 0 || call->a[0] == process->pid)
        process->affinity = wanted & existing;
    return 0;
}

long sys_getcpu(struct call *call)
{
    if (call->a[0] != 0)
        *(unsigned *)call->a[0] = 0;
    if (call->a[1] != 0)
        *(unsigned *)call->a[1] = 0;
    return 0;
}

struct limits {
    uint64_t soft;
    uint64_t hard;
};

/* RLIMIT_NOFILE as the application believes it: the kernel's is higher, for the shim's own descriptors. */
static long nofile_limits(struct call *call, const struct limits *wanted, struct limits *old)
{
    struct process *process = call->thread->process;
    struct limits before = {process->nofile_soft, process->nofile_hard};
    struct reply reply;

    if ((wanted != NULL && is_bad_pointer(wanted)) || (old != NULL && is_bad_pointer(old)))
        return -EFAULT;
    if (wanted != NULL) {
        if (wanted->soft > wanted->hard)
            return -EINVAL;
        if (wanted->hard > before.hard)
            return -EPERM;
        process->nofile_soft = wanted->soft;
        process->nofile_hard = wanted->hard;
        ASK(call->thread, &reply, OP_NOFILE, (int64_t)wanted->soft, (int64_t)wanted->hard);
    }
    if (old != NULL)
        *old = before;
    return 0;
}

long sys_getrlimit(struct call *call)
{
    if (call->a[0] == RLIMIT_NOFILE)
        return nofile_limits(call, NULL, (struct limits *)call->a[1]);
    return NATIVE(getrlimit, call->a[0], call->a[1]);
}

long sys_setrlimit(struct call *call)
{
    long result;

    if (call->a[0] == RLIMIT_NOFILE)
        return nofile_limits(call, (const struct limits *)call->a[1], NULL);
    result = NATIVE(setrlimit, call->a[0], call->a[1]);
    if (call->a[0] == RLIMIT_FSIZE)
        strace_limited(call->thread->process);
    return result;
}

long sys_prlimit64(struct call *call)
{
    long result;

    if (call->a[1] == RLIMIT_NOFILE && (call->a[0] == 0 || call->a[0] == call->thread->process->pid))
        return nofile_limits(call, (const struct limits *)call->a[2], (struct limits *)call->a[3]);
    result = NATIVE(prlimit64, call->a[0], call->a[1], call->a[2], call->a[3]);
    if (call->a[1] == RLIMIT_FSIZE)
        strace_limited(call->thread->process);
    return result;
}

long sys_getrusage(struct call *call)
{
    long result = NATIVE(getrusage, call->a[0], call->a[1]);

    if (result == 0)
        usage_forget((void *)call->a[1]);
    return result;
}

/* In a user namespace without further group ids the kernel refuses; the emulated root must not notice. */
long sys_setgroups(struct call *call)
{
    long result = NATIVE(setgroups, call->a[0], call->a[1]);

    return result == -EPERM && (call->thread->process->flags & HELLO_FLAG_FAKE_GROUPS) ? 0 : result;
}
