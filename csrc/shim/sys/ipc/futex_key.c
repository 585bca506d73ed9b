/* Makes the key by which the server knows a futex word: an address of this process, or a place in memory that processes
 * share. */
#include "shim/sys/ipc/ipc.h"

static bool in_shared_memory(const struct process *process, uint64_t address)
{
    for (int i = 0; i < process->mappings.shared_count; i++)
        if (address >= process->mappings.shared[i].start && address < process->mappings.shared[i].end)
            return true;
    return process->mappings.shared_overflow;
}

#define SPACE_OF_MEMORIES (1L << 62) /* more than any device and inode give, as their devices have small numbers */

/* Make the key: (0, address) for a word that only this process sees; for shared memory, one on which all processes that
 * map it agree. Memory that processes share as a whole (clone(2), CLONE_VM) has keys that all of them agree on as well. */
void futex_key(struct process *process, uint64_t address, bool is_private, uint64_t key[2])
{
    struct map_query query;

    key[0] = process->space.number == 0 ? 0 : (uint64_t)(SPACE_OF_MEMORIES + process->space.number);
    key[1] = address;
    if (is_private || !in_shared_memory(process, address) || !mapping_find(address, &query, NULL, 0) ||
        (query.vma_flags & MAPPING_SHARED) == 0)
        return;
    key[0] = (((uint64_t)query.major << 52 | (uint64_t)query.minor << 44 | 1UL << 43) ^ query.inode) & INT64_MAX;
    key[1] = address - query.start + query.offset;
}

/* Return the counter of threads that wait at words with this hash, so that a wake which finds no waiter needs no
 * message. A process that dies while it waits in shared memory leaves its count there, which costs messages, but loses
 * no wake. */
static uint32_t *shared_waiters(const struct process *process, const uint64_t key[2])
{
    _Static_assert(sizeof(struct simunix_clock_page) <= SIMUNIX_CLOCK_BYTES, "the counts lie in the clock page");
    return &process->page->shared_waiters[random_mix(key[0] ^ random_mix(key[1])) % SIMUNIX_SHARED_WAITERS];
}

void futex_count_waiter(struct process *process, const uint64_t key[2], int change)
{
    if (key[0] == 0)
        process->waiters[(key[1] >> 2) % WAITER_SLOTS] += (uint16_t)change;
    else
        *shared_waiters(process, key) += (uint32_t)change;
}

bool futex_has_waiters(const struct process *process, const uint64_t key[2])
{
    return key[0] == 0 ? process->waiters[(key[1] >> 2) % WAITER_SLOTS] != 0 : *shared_waiters(process, key) != 0;
}
