/* Room sys/numa: NUMA nodes of the emulated host, and the memory policies of threads and of ranges of memory.
 *
 * No memory is moved, since all of it is this computer's. The answers are those of a kernel on such a host. May call
 * core.
 */
#ifndef SIMUNIX_SYS_NUMA_H
#define SIMUNIX_SYS_NUMA_H

#include "shim/core/core.h"

#define NUMA_NODES_MOST 32
#define NUMA_PAGE_BYTES 4096UL

#define STATIC_NODES (1U << 15)
#define RELATIVE_NODES (1U << 14)
#define NUMA_BALANCING (1U << 13)
#define MODE_FLAGS (STATIC_NODES | RELATIVE_NODES | NUMA_BALANCING)

/* See set_mempolicy(2). The numbers are the kernel's (linux/mempolicy.h), some newer than its headers here. */
enum memory_mode {
    MODE_DEFAULT,
    MODE_PREFERRED,
    MODE_BIND,
    MODE_INTERLEAVE,
    MODE_LOCAL,
    MODE_PREFERRED_MANY,
    MODE_WEIGHTED_INTERLEAVE,
    MODES
};

/* A memory policy: `mode` with its flags. `nodes` are the nodes of the policy that the host has, `user` the nodes that
 * the program has named. */
struct memory_policy {
    uint32_t mode, nodes, user;
};

struct memory_range {
    uint64_t start, end;
    struct memory_policy policy;
};

#define MEMORY_RANGES_MOST 1000

/* Ranges in the order of their addresses; none overlaps another. */
struct memory_table {
    unsigned count;
    struct memory_range ranges[MEMORY_RANGES_MOST];
};

/* The policies that mbind(2) has set for ranges of memory, and the nodes to which move_pages(2) has moved pages. */
struct memory_ranges {
    struct memory_table policies, places;
};

/* The memory policy and the processor of a thread, as the server knows them. */
struct numa_thread {
    struct memory_policy policy;
    unsigned cpu; /* the first processor that the thread may use */
};

/* nodes.c */
int numa_nodes(struct thread *thread);
uint32_t numa_every_node(struct thread *thread);
unsigned numa_node_of_cpu(struct thread *thread, unsigned cpu);
long numa_of_thread(struct thread *thread, int tid, struct numa_thread *known);
long numa_set_policy(struct thread *thread, const struct memory_policy *policy);
unsigned numa_node_by(struct thread *thread, const struct memory_policy *policy, uint64_t address, unsigned cpu);

/* ranges.c */
const struct memory_policy *memory_range_find(const struct memory_table *table, uint64_t address);
bool memory_range_set(struct memory_table *table, uint64_t start, uint64_t end, const struct memory_policy *policy);
struct memory_ranges *memory_ranges_made(struct process *process);
const struct memory_policy *memory_range_policy(const struct memory_ranges *ranges, uint64_t address);
void memory_ranges_forget(struct process *process, uint64_t start, uint64_t size);

/* policy.c */
long numa_take_nodes(const uint64_t *from, uint64_t most, uint32_t *nodes, bool *has_others);

#endif
