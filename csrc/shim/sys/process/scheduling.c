/* Yielding, processors and nice values. Nice values count from the one that the whole emulation has, which is its user's
 * affair. */
#include "shim/core/memory.h"
#include "shim/sys/process/process.h"
#include "shim/turn/turn.h"

static bool is_alone(const struct process *process)
{
    const struct simunix_clock_page *page = process->page;

    return page->lookahead_ns > page->now_ns && page->due_ns > page->now_ns && process->ready == NULL;
}

long sys_sched_yield(struct call *call)
{
    const struct process *process = call->thread->process;
    struct wait wait = {.kind = PARK_YIELD, .deadline = NEVER};

    clock_charge_yield(call, is_alone(process));
    if (!is_alone(process))
        park(call, &wait);
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

#define NICE_LEAST (-20)
#define NICE_MOST 19
#define RAW_OFFSET 20 /* the kernel answers 20 - nice, since an error is negative */

static long within_nice(long nice)
{
    return nice < NICE_LEAST ? NICE_LEAST : nice > NICE_MOST ? NICE_MOST : nice;
}

/* The nice value to show for the kernel's: that of the emulation itself counts as 0. */
long nice_shown(const struct process *process, long nice)
{
    return within_nice(nice - (long)process->page->nice);
}

long sys_getpriority(struct call *call)
{
    long result = NATIVE(getpriority, call->a[0], call->a[1]);

    return result <= 0 ? result : RAW_OFFSET - nice_shown(call->thread->process, RAW_OFFSET - result);
}

long sys_setpriority(struct call *call)
{
    long nice = within_nice((int)call->a[2]);

    return NATIVE(setpriority, call->a[0], call->a[1], within_nice(nice + (long)call->thread->process->page->nice));
}
