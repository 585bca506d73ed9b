/* Finds the NUMA nodes of the host and of its processors, and what the server knows of threads' memory policies, which
 * last through exec. */
#include "shim/sys/numa/numa.h"

#include "shim/core/channel.h"

#define ONLY_ASKED (-1)
#define OF_COMPUTER (-1) /* in process->numa.count, where 0 is "not asked yet" */

enum answer { MODE = 1, NODES, USER, COUNT, CORES, CPU };

static long exchange(struct thread *thread, int tid, int64_t mode, const struct memory_policy *policy,
                     struct numa_thread *known)
{
    struct process *process = thread->process;
    struct reply reply;

    if (ASK(thread, &reply, OP_MEMORY_POLICY, tid, mode, policy->nodes, policy->user) != 0)
        return reply.status;
    process->numa.count = (int)reply_number(&reply, COUNT);
    process->numa.cores = (int)reply_number(&reply, CORES);
    if (process->numa.count == 0)
        process->numa.count = OF_COMPUTER;
    known->policy.mode = (uint32_t)reply_number(&reply, MODE);
    known->policy.nodes = (uint32_t)reply_number(&reply, NODES);
    known->policy.user = (uint32_t)reply_number(&reply, USER);
    known->cpu = (unsigned)reply_number(&reply, CPU);
    return 0;
}

/* Ask for the policy and the processor of a thread of the host; tid 0 is the caller. */
long numa_of_thread(struct thread *thread, int tid, struct numa_thread *known)
{
    return exchange(thread, tid, ONLY_ASKED, &(struct memory_policy){0}, known);
}

long numa_set_policy(struct thread *thread, const struct memory_policy *policy)
{
    struct numa_thread known;

    return exchange(thread, 0, policy->mode, policy, &known);
}

/* Return how many NUMA nodes the host has; 0: the host shows the nodes of this computer, which the kernel reports. */
int numa_nodes(struct thread *thread)
{
    struct numa_thread known;

    if (thread->process->numa.count == 0 && numa_of_thread(thread, 0, &known) != 0)
        return 0;
    return thread->process->numa.count == OF_COMPUTER ? 0 : thread->process->numa.count;
}

uint32_t numa_every_node(struct thread *thread)
{
    return (uint32_t)((1UL << numa_nodes(thread)) - 1);
}

/* Return the node of a processor. Threads of a core are numbered apart, and nodes have equal parts of the cores. */
unsigned numa_node_of_cpu(struct thread *thread, unsigned cpu)
{
    int nodes = numa_nodes(thread);
    int cores = thread->process->numa.cores;

    return nodes < 2 || cores < nodes ? 0 : cpu % (unsigned)cores / ((unsigned)cores / (unsigned)nodes);
}

static unsigned first_of(uint32_t nodes)
{
    return nodes != 0 ? (unsigned)__builtin_ctz(nodes) : 0;
}

static unsigned count_of(uint32_t nodes)
{
    unsigned count = 0;

    for (; nodes != 0; nodes &= nodes - 1)
        count++;
    return count;
}

/* Return the node to which a policy assigns the page of an address that a thread on this processor touches. Each page
 * counts as being on the node where the present policy would put it. */
unsigned numa_node_by(struct thread *thread, const struct memory_policy *policy, uint64_t address, unsigned cpu)
{
    unsigned local = numa_node_of_cpu(thread, cpu);
    uint32_t nodes = policy->nodes;
    uint32_t mode = policy->mode & ~MODE_FLAGS;

    if (nodes == 0)
        return local;
    if (mode != MODE_INTERLEAVE && mode != MODE_WEIGHTED_INTERLEAVE)
        return (nodes >> local & 1) != 0 ? local : first_of(nodes);
    for (uint64_t skip = address / NUMA_PAGE_BYTES % count_of(nodes); skip > 0; skip--)
        nodes &= nodes - 1;
    return first_of(nodes);
}
