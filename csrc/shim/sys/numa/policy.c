/* Memory policies, see mbind(2), set_mempolicy(2) and get_mempolicy(2). If the host shows the nodes of this computer,
 * the real kernel answers these calls. */
#include "shim/core/memory.h"
#include "shim/sys/numa/numa.h"

#define KERNEL_NODES 1024 /* the most nodes that a set may have */
#define SET_BITS_MOST (NUMA_PAGE_BYTES * 8)

#define GET_NODE 1U
#define GET_ADDRESS 2U
#define GET_ALLOWED 4U

#define BIND_STRICT 1U
#define BIND_MOVE 2U
#define BIND_MOVE_ALL 4U

/* Read a set of nodes from the program: those that a host can have, and whether there are others. One bit less than
 * `most` counts. */
long numa_take_nodes(const uint64_t *from, uint64_t most, uint32_t *nodes, bool *has_others)
{
    uint64_t bits = most - 1;

    *nodes = 0;
    *has_others = false;
    if (from == NULL || bits == 0)
        return 0;
    if (bits > SET_BITS_MOST)
        return -EINVAL;
    for (uint64_t at = 0; at < bits; at += 64) {
        uint64_t word = from[at / 64];

        if (bits - at < 64)
            word &= (1UL << (bits - at)) - 1;
        if (word != 0 && at >= KERNEL_NODES)
            return -EINVAL;
        if (at == 0)
            *nodes = (uint32_t)word;
        if (at > 0 ? word != 0 : word >> NUMA_NODES_MOST != 0)
            *has_others = true;
    }
    return 0;
}

/* Return the nodes that relative nodes mean: the n-th is the n-th that the host has, counted round and round. */
static uint32_t folded(uint32_t nodes, unsigned count)
{
    uint32_t result = 0;

    for (unsigned node = 0; node < NUMA_NODES_MOST; node++)
        if ((nodes >> node & 1) != 0)
            result |= 1U << node % count;
    return result;
}

/* Return whether a mode with these flags, with nodes or without, does not exist. */
static bool is_no_mode(uint32_t mode, uint32_t flags, bool is_empty)
{
    uint32_t user_flags = flags & (STATIC_NODES | RELATIVE_NODES);

    if (mode >= MODES || user_flags == (STATIC_NODES | RELATIVE_NODES))
        return true;
    if ((flags & NUMA_BALANCING) != 0 && mode != MODE_BIND && mode != MODE_PREFERRED_MANY)
        return true;
    if (mode == MODE_DEFAULT)
        return !is_empty;
    if (mode == MODE_LOCAL)
        return !is_empty || user_flags != 0;
    return is_empty && (mode != MODE_PREFERRED || user_flags != 0);
}

/* Make the policy that a program asks for. */
static long take_policy(struct thread *thread, uint32_t wanted, const uint64_t *from, uint64_t most,
                        struct memory_policy *policy)
{
    uint32_t flags = wanted & MODE_FLAGS;
    uint32_t mode = wanted & ~MODE_FLAGS;
    uint32_t nodes;
    bool has_others;
    long result = numa_take_nodes(from, most, &nodes, &has_others);

    if (result < 0)
        return result;
    if (is_no_mode(mode, flags, nodes == 0 && !has_others))
        return -EINVAL;
    if (mode == MODE_DEFAULT || mode == MODE_LOCAL || (nodes == 0 && !has_others)) {
        *policy = (struct memory_policy){mode == MODE_PREFERRED ? MODE_LOCAL : mode, 0, 0};
        return 0;
    }
    *policy = (struct memory_policy){mode | flags, nodes & numa_every_node(thread), nodes};
    if ((flags & RELATIVE_NODES) != 0)
        policy->nodes = folded(nodes, (unsigned)numa_nodes(thread));
    if (mode == MODE_PREFERRED)
        policy->nodes &= -policy->nodes;
    return policy->nodes != 0 ? 0 : -EINVAL;
}

long sys_set_mempolicy(struct call *call)
{
    struct memory_policy policy;
    long result;

    if (numa_nodes(call->thread) == 0)
        return call_natively(call);
    result = take_policy(call->thread, (uint32_t)call->a[0], (const uint64_t *)call->a[1], (uint64_t)call->a[2], &policy);
    return result < 0 ? result : numa_set_policy(call->thread, &policy);
}

/* Write a set of nodes for the program: as many whole words as it has bits for. */
static long give_nodes(uint64_t *to, uint64_t most, uint32_t nodes)
{
    uint64_t bytes = (most - 1 + 63) / 64 * 8;

    if (bytes > NUMA_PAGE_BYTES)
        return -EINVAL;
    memset(to, 0, bytes);
    if (bytes > 0)
        to[0] = nodes;
    return 0;
}

/* Return whether there is memory at an address. If the kernel does not say, the result is true. */
static bool is_mapped(uint64_t address)
{
    int mode;

    return NATIVE(get_mempolicy, &mode, NULL, 0, address, GET_ADDRESS) != -EFAULT;
}

static unsigned node_of_page(struct thread *thread, const struct numa_thread *known, uint64_t address)
{
    const struct memory_policy *policy = memory_range_policy(thread->process->numa.bound, address);

    return numa_node_by(thread, policy != NULL ? policy : &known->policy, address, known->cpu);
}

/* Return the policy that is asked for: of an address, or of the thread. */
static struct memory_policy asked_policy(struct thread *thread, const struct numa_thread *known, uint64_t address,
                                         uint64_t flags)
{
    const struct memory_ranges *ranges = thread->process->numa.bound;
    const struct memory_policy *found;

    if ((flags & GET_ADDRESS) == 0)
        return known->policy;
    found = ranges != NULL ? memory_range_find(&ranges->policies, address) : NULL;
    return found != NULL ? *found : (struct memory_policy){0};
}

long sys_get_mempolicy(struct call *call)
{
    int *mode = (int *)call->a[0];
    uint64_t *set = (uint64_t *)call->a[1];
    uint64_t most = (uint64_t)call->a[2], address = (uint64_t)call->a[3], flags = (uint64_t)call->a[4];
    int nodes = numa_nodes(call->thread);
    struct memory_policy policy = {0};
    struct numa_thread known;

    if (nodes == 0)
        return call_natively(call);
    if ((set != NULL && most < (uint64_t)nodes) || (flags & ~(uint64_t)(GET_NODE | GET_ADDRESS | GET_ALLOWED)) != 0)
        return -EINVAL;
    if ((flags & GET_ALLOWED) != 0) {
        if ((flags & (GET_NODE | GET_ADDRESS)) != 0)
            return -EINVAL;
        if (mode != NULL)
            *mode = 0;
        return set != NULL ? give_nodes(set, most, numa_every_node(call->thread)) : 0;
    }
    if ((flags & GET_ADDRESS) == 0 ? address != 0 : !is_mapped(address))
        return (flags & GET_ADDRESS) == 0 ? -EINVAL : -EFAULT;
    numa_of_thread(call->thread, 0, &known);
    known.cpu = call->thread->cpu;
    policy = asked_policy(call->thread, &known, address, flags);
    if ((flags & (GET_NODE | GET_ADDRESS)) == GET_NODE && (policy.mode & ~MODE_FLAGS) != MODE_INTERLEAVE)
        return -EINVAL;
    if (mode != NULL && (flags & GET_NODE) != 0)
        *mode = (int)((flags & GET_ADDRESS) != 0 ? node_of_page(call->thread, &known, address)
                                                 : (unsigned)__builtin_ctz(policy.nodes));
    else if (mode != NULL)
        *mode = (int)policy.mode;
    return set != NULL
               ? give_nodes(set, most, (policy.mode & (STATIC_NODES | RELATIVE_NODES)) != 0 ? policy.user : policy.nodes)
               : 0;
}

/* Have the kernel check that there is memory in the whole range, by setting the kernel's own policy of the range to the
 * default, which it has already. */
static long check_range(const struct call *call)
{
    long result = NATIVE(mbind, call->a[0], call->a[1], MODE_DEFAULT, NULL, 0, 0);

    return result == -EFAULT || result == -EINVAL || result == -ENOMEM ? result : 0;
}

/* Present pages are assumed to be where the new policy wants them: no page is reported as misplaced (MPOL_MF_STRICT). */
long sys_mbind(struct call *call)
{
    uint64_t start = (uint64_t)call->a[0];
    uint64_t end = start + (((uint64_t)call->a[1] + NUMA_PAGE_BYTES - 1) & -NUMA_PAGE_BYTES);
    struct memory_policy policy;
    struct memory_ranges *ranges;
    long result;

    if (numa_nodes(call->thread) == 0)
        return call_natively(call);
    result = take_policy(call->thread, (uint32_t)call->a[2], (const uint64_t *)call->a[3], (uint64_t)call->a[4], &policy);
    if (result < 0)
        return result;
    if (((uint64_t)call->a[5] & ~(uint64_t)(BIND_STRICT | BIND_MOVE | BIND_MOVE_ALL)) != 0)
        return -EINVAL;
    if ((call->a[5] & BIND_MOVE_ALL) != 0 && NATIVE(geteuid) != 0)
        return -EPERM;
    if ((result = check_range(call)) < 0 || start == end)
        return result;
    ranges = memory_ranges_made(call->thread->process);
    if (ranges == NULL || !memory_range_set(&ranges->policies, start, end, policy.mode != MODE_DEFAULT ? &policy : NULL))
        return -ENOMEM;
    if ((call->a[5] & (BIND_MOVE | BIND_MOVE_ALL)) != 0)
        memory_range_set(&ranges->places, start, end, NULL);
    return 0;
}

/* The preferred node of a range whose policy has several nodes: it has no effect here. */
long sys_set_mempolicy_home_node(struct call *call)
{
    uint64_t start = (uint64_t)call->a[0], end = start + (uint64_t)call->a[1];
    const struct memory_ranges *ranges = call->thread->process->numa.bound;
    int nodes = numa_nodes(call->thread);
    long result = -ENOENT;

    if (nodes == 0)
        return call_natively(call);
    if (start % NUMA_PAGE_BYTES != 0 || call->a[3] != 0 || (uint64_t)call->a[2] >= (uint64_t)nodes || end < start)
        return -EINVAL;
    if (start == end)
        return 0;
    for (unsigned i = 0; ranges != NULL && i < ranges->policies.count; i++) {
        const struct memory_range *range = &ranges->policies.ranges[i];
        uint32_t mode = range->policy.mode & ~MODE_FLAGS;

        if (range->end <= start || range->start >= end)
            continue;
        if (mode != MODE_BIND && mode != MODE_PREFERRED_MANY)
            return -EOPNOTSUPP;
        result = 0;
    }
    return result;
}
