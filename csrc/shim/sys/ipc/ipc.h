/* Room sys/ipc: futexes, System V semaphores and message queues, POSIX message queues.
 *
 * Owns the keys of futex words and the counts of their waiters, and the question which mapping holds an address. May call turn
 * and below, and no other family.
 */
#ifndef SIMUNIX_SYS_IPC_H
#define SIMUNIX_SYS_IPC_H

#include "shim/core/core.h"

struct futex_pair {
    uint32_t *from, *to;
    bool from_private, to_private;
};

/* mappings.c: struct procmap_query of linux/fs.h */
#define MAPPING_WRITABLE 0x02
#define MAPPING_SHARED 0x08
struct map_query {
    uint64_t size, flags, address;
    uint64_t start, end, vma_flags, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
};
bool mapping_find(uint64_t address, struct map_query *query, char *path, size_t room);
bool mappings_walk(bool (*sees)(void *data, const struct map_query *mapping, const char *path), void *data);

/* futex_key.c */
void futex_key(struct process *process, uint64_t address, bool is_private, uint64_t key[2]);
void futex_count_waiter(struct process *process, const uint64_t key[2], int change);
bool futex_has_waiters(const struct process *process, const uint64_t key[2]);

/* futex_wait.c */
long futex_check_word(const uint32_t *word);
long futex_wait(struct call *call, uint32_t *word, bool is_private, uint32_t expected, int64_t deadline, uint32_t bitset);
long futex_wake(struct call *call, uint32_t *word, bool is_private, int64_t most, uint32_t bitset);
long futex_requeue(struct call *call, const struct futex_pair *pair, int64_t wake, int64_t move);

/* futex_pi.c */
long futex_lock_pi(struct call *call, uint32_t *word, bool is_private, int64_t deadline, bool try_only);
long futex_unlock_pi(struct call *call, uint32_t *word, bool is_private);
long futex_wait_requeue_pi(struct call *call, const struct futex_pair *pair, int64_t deadline);
long futex_cmp_requeue_pi(struct call *call, const struct futex_pair *pair);
void futex_release_robust(struct call *call);

#endif
