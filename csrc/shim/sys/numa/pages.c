/* Pages that programs move between NUMA nodes, see move_pages(2) and migrate_pages(2): no page is moved in reality, and
 * the shim records on which node each page counts. */
#include "shim/core/memory.h"
#include "shim/sys/numa/numa.h"

#define MOVE 2
#define MOVE_ALL 4

/* All pages of another process follow that process's policy at once, so no page remains unmoved. */
long sys_migrate_pages(struct call *call)
{
    static const uint64_t first_node = 1;
    uint32_t from, to;
    bool has_others;
    long result;

    if (numa_nodes(call->thread) == 0)
        return call_natively(call);
    result = numa_take_nodes((const uint64_t *)call->a[2], (uint64_t)call->a[1], &from, &has_others);
    if (result == 0)
        result = numa_take_nodes((const uint64_t *)call->a[3], (uint64_t)call->a[1], &to, &has_others);
    if (result < 0)
        return result;
    result = NATIVE(migrate_pages, call->a[0], 2, &first_node, &first_node); /* is the process there, and may the caller ask? */
    if (result == -ESRCH || result == -EPERM)
        return result;
    return (to & numa_every_node(call->thread)) != 0 ? 0 : -EINVAL;
}

/* Return the process whose pages are meant; 0 is the caller itself. */
static int other_process(const struct call *call)
{
    int pid = (int)call->a[0];

    return pid == call->thread->process->ids.pid ? 0 : pid;
}

static bool place(struct process *process, uint64_t address, unsigned node)
{
    struct memory_policy policy = {MODE_BIND, 1U << node, 1U << node};
    struct memory_ranges *ranges = memory_ranges_made(process);
    uint64_t start = address & -NUMA_PAGE_BYTES;

    return ranges != NULL && memory_range_set(&ranges->places, start, start + NUMA_PAGE_BYTES, &policy);
}

static unsigned node_of(const struct call *call, const struct numa_thread *known, uint64_t address)
{
    const struct memory_ranges *ranges = other_process(call) == 0 ? call->thread->process->numa.bound : NULL;
    const struct memory_policy *policy = memory_range_policy(ranges, address);

    return numa_node_by(call->thread, policy != NULL ? policy : &known->policy, address, known->cpu);
}

static bool has_node_that_is_not(const struct call *call, int nodes)
{
    const int *wanted = (const int *)call->a[3];

    for (uint64_t i = 0; wanted != NULL && i < (uint64_t)call->a[1]; i++)
        if (wanted[i] < 0 || wanted[i] >= nodes)
            return true;
    return false;
}

/* The kernel says which pages are there. For other processes, the result follows from their threads' policy, and
 * nothing is moved. */
long sys_move_pages(struct call *call)
{
    uint64_t *const *pages = (uint64_t *const *)call->a[2];
    const int *wanted = (const int *)call->a[3];
    int *status = (int *)call->a[4];
    int nodes = numa_nodes(call->thread);
    struct numa_thread known;
    long result;

    if (nodes == 0)
        return call_natively(call);
    if ((call->a[5] & MOVE_ALL) != 0 && NATIVE(geteuid) != 0)
        return -EPERM;
    result = NATIVE(move_pages, call->a[0], call->a[1], pages, NULL, status, call->a[5] & ~(long)MOVE_ALL);
    if (result < 0)
        return result;
    if (has_node_that_is_not(call, nodes))
        return -ENODEV;
    if (numa_of_thread(call->thread, other_process(call), &known) != 0)
        return -ESRCH;
    if (other_process(call) == 0)
        known.cpu = call->thread->cpu;
    for (uint64_t i = 0; i < (uint64_t)call->a[1]; i++) {
        if (status[i] < 0)
            continue;
        if (wanted != NULL && other_process(call) == 0 &&
            !place(call->thread->process, (uint64_t)pages[i], (unsigned)wanted[i]))
            return -ENOMEM;
        status[i] = wanted != NULL ? wanted[i] : (int)node_of(call, &known, (uint64_t)pages[i]);
    }
    return 0;
}
