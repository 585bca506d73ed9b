/* What a futex word is to the server: an address of this process, or a place in memory that processes share. */
#include "shim/sys/ipc/ipc.h"

static bool in_shared_memory(const struct process *process, uint64_t address)
{
    for (int i = 0; i < process->shared_count; i++)
        if (address >= process->shared[i].start && address < process->shared[i].end)
            return true;
    return process->shared_overflow;
}

#define SPACE_OF_MEMORIES (1L << 62) /* more than any device and inode give, as their devices have small numbers */

/* (0, address) for a word that only this process sees; for shared memory something that all who map it agree on. So it is for
 * memory that processes share as a whole (clone(2), CLONE_VM). */
void futex_key(struct process *process, uint64_t address, bool is_private, uint64_t key[2])
{
    struct map_query query;

    key[0] = process->memory == 0 ? 0 : (uint64_t)(SPACE_OF_MEMORIES + process->memory);
    key[1] = address;
    if (is_private || !in_shared_memory(process, address) || !mapping_find(address, &query, NULL, 0) ||
        (query.vma_flags & MAPPING_SHARED) == 0)
        return;
    key[0] = (((uint64_t)query.major << 52 | (uint64_t)query.minor << 44 | 1UL << 43) ^ query.inode) & INT64_MAX;
    key[1] = address - query.start + query.offset;
}
