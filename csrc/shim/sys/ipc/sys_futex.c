/* Futexes: the word is checked while holding the turn, so nothing can change between the check and the wait. */
#include "file_times.h"

#define WAKES_BEFORE_YIELD 32

#define FUTEX_COMMAND(op) ((op) & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME))

uint16_t *futex_waiters(struct process *process, uint64_t address)
{
    return &process->waiters[(address >> 2) % WAITER_SLOTS];
}

static bool in_shared_memory(const struct process *process, uint64_t address)
{
    for (int i = 0; i < process->shared_count; i++)
        if (address >= process->shared[i].start && address < process->shared[i].end)
            return true;
    return process->shared_overflow;
}

/* PROCMAP_QUERY (Linux 6.11) names the mapping of an address without printing them all. */
struct map_query {
    uint64_t size, flags, address;
    uint64_t start, end, vma_flags, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
};
#define MAP_QUERY_IOCTL 0xc0686611UL
#define MAP_QUERY_SHARED 0x08

_Static_assert(sizeof(struct map_query) == 104, "linux/fs.h: struct procmap_query");

static long parse_hexadecimal(const char **text, uint64_t *number)
{
    const char *start = *text;

    *number = 0;
    for (;; (*text)++) {
        char c = **text;

        if (c >= '0' && c <= '9')
            *number = *number << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *number = *number << 4 | (uint64_t)(c - 'a' + 10);
        else
            return *text - start;
    }
}

/* One line of /proc/self/maps: start-end perms offset major:minor inode. True if it holds the address. */
static bool parse_map_line(const char *line, struct map_query *query)
{
    uint64_t part[5] = {0};
    char permission;

    parse_hexadecimal(&line, &query->start);
    line++;
    parse_hexadecimal(&line, &query->end);
    if (query->address < query->start || query->address >= query->end)
        return false;
    permission = line[4];
    line += 6;
    parse_hexadecimal(&line, &query->offset);
    line++;
    parse_hexadecimal(&line, &part[0]);
    line++;
    parse_hexadecimal(&line, &part[1]);
    line++;
    for (query->inode = 0; *line >= '0' && *line <= '9'; line++)
        query->inode = query->inode * 10 + (uint64_t)(*line - '0');
    query->major = (uint32_t)part[0];
    query->minor = (uint32_t)part[1];
    query->vma_flags = permission == 's' ? MAP_QUERY_SHARED : 0;
    return true;
}

/* For kernels without the query. Lines are at least 49 characters; only their start is kept. */
static bool search_maps(int file, struct map_query *query)
{
    char line[128];
    char block[1024];
    size_t length = 0;
    long size;

    while ((size = NATIVE(read, file, block, sizeof block)) > 0)
        for (long i = 0; i < size; i++) {
            if (block[i] != '\n') {
                if (length < sizeof line - 1)
                    line[length++] = block[i];
                continue;
            }
            line[length] = '\0';
            length = 0;
            if (parse_map_line(line, query))
                return true;
        }
    return false;
}

static bool find_mapping(uint64_t address, struct map_query *query)
{
    long file = proc_open("self/maps");
    bool found;

    if (file < 0)
        return false;
    *query = (struct map_query){.size = sizeof *query, .address = address};
    found = NATIVE(ioctl, file, MAP_QUERY_IOCTL, query) == 0 || search_maps((int)file, query);
    NATIVE(close, file);
    return found;
}

/* (0, address) for a word that only this process sees; for shared memory something that all who map it agree on. */
void futex_key(struct process *process, uint64_t address, bool is_private, uint64_t key[2])
{
    struct map_query query;

    key[0] = 0;
    key[1] = address;
    if (is_private || !in_shared_memory(process, address) || !find_mapping(address, &query) ||
        (query.vma_flags & MAP_QUERY_SHARED) == 0)
        return;
    key[0] = (((uint64_t)query.major << 52 | (uint64_t)query.minor << 44 | 1UL << 43) ^ query.inode) & INT64_MAX;
    key[1] = address - query.start + query.offset;
}

long futex_wait(struct call *call, uint32_t *word, bool is_private, uint32_t expected, int64_t deadline, uint32_t bitset)
{
    struct process *process = call->thread->process;
    uint16_t *waiters = futex_waiters(process, (uint64_t)word);
    uint64_t key[2];
    long result;

    if (bitset == 0)
        return -EINVAL;
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != expected)
        return -EAGAIN;
    futex_key(process, (uint64_t)word, is_private, key);
    struct wait wait = {.kind = PARK_FUTEX, .deadline = deadline, .a = key[0], .b = key[1], .c = bitset, .steps = key[0] == 0};
    (*waiters)++;
    result = wait_on(call, &wait, deadline == NEVER);
    (*waiters)--;
    return result == WAKE_TIMEOUT ? -ETIMEDOUT : result;
}

/* Who unlocks and locks again in one turn, on and on, would keep those out for ever whom it wakes each time: now and then they
 * go first, as on a real computer they sometimes would. */
static long let_pass(struct call *call, long woken)
{
    struct wait wait = {.kind = PARK_YIELD, .deadline = NEVER};

    if (woken > 0 && ++call->thread->wakes % WAKES_BEFORE_YIELD == 0)
        park(call, &wait);
    return woken;
}

long futex_wake(struct call *call, uint32_t *word, bool is_private, int64_t most, uint32_t bitset)
{
    struct process *process = call->thread->process;
    uint64_t key[2];
    struct reply reply;
    long woken;

    if (bitset == 0)
        return -EINVAL;
    futex_key(process, (uint64_t)word, is_private, key);
    if (key[0] == 0 && *futex_waiters(process, (uint64_t)word) == 0)
        return 0;
    if (key[0] == 0 && handoff_wake(process, key[1], most > 0 ? most : 1, bitset, &woken))
        return let_pass(call, woken);
    return let_pass(call, ASK(call->thread, &reply, OP_WAKE, (int64_t)key[0], (int64_t)key[1], most > 0 ? most : 1, bitset));
}

/* Waiters that are moved keep their count under the word that they came with, so the target's is raised for good: the
 * count only ever saves messages. */
long futex_requeue(struct call *call, const struct futex_pair *pair, int64_t wake, int64_t move)
{
    struct process *process = call->thread->process;
    uint64_t from[2];
    uint64_t to[2];
    struct reply reply;

    futex_key(process, (uint64_t)pair->from, pair->from_private, from);
    futex_key(process, (uint64_t)pair->to, pair->to_private, to);
    if (ASK(call->thread, &reply, OP_REQUEUE, (int64_t)from[0], (int64_t)from[1], (int64_t)to[0], (int64_t)to[1], wake,
            move) < 0)
        return reply.status;
    handoff_requeue(process, from, to, reply.status, reply_number(&reply, 1));
    if (reply_number(&reply, 1) > 0)
        (*futex_waiters(process, (uint64_t)pair->to))++;
    return reply.status + reply_number(&reply, 1);
}

static int32_t operate(int operation, int32_t old, int32_t argument)
{
    switch (operation) {
    case FUTEX_OP_SET:
        return argument;
    case FUTEX_OP_ADD:
        return old + argument;
    case FUTEX_OP_OR:
        return old | argument;
    case FUTEX_OP_ANDN:
        return old & ~argument;
    default:
        return old ^ argument;
    }
}

static bool compare(int comparison, int32_t old, int32_t argument)
{
    switch (comparison) {
    case FUTEX_OP_CMP_EQ:
        return old == argument;
    case FUTEX_OP_CMP_NE:
        return old != argument;
    case FUTEX_OP_CMP_LT:
        return old < argument;
    case FUTEX_OP_CMP_LE:
        return old <= argument;
    case FUTEX_OP_CMP_GT:
        return old > argument;
    default:
        return old >= argument;
    }
}

static long futex_wake_op(struct call *call, const struct futex_pair *pair, int64_t most, int64_t second_most)
{
    uint32_t *second = pair->to;
    uint32_t encoded = (uint32_t)call->a[5];
    int32_t argument = (int32_t)(encoded << 8) >> 20;
    int32_t old = (int32_t)*second;
    long woken;

    if (encoded >> 28 & FUTEX_OP_OPARG_SHIFT)
        argument = 1 << (argument & 31);
    *second = (uint32_t)operate(encoded >> 28 & 7, old, argument);
    woken = futex_wake(call, pair->from, pair->from_private, most, FUTEX_BITSET_MATCH_ANY);
    if (woken >= 0 && compare(encoded >> 24 & 15, old, (int32_t)(encoded << 20) >> 20)) {
        long more = futex_wake(call, second, pair->to_private, second_most, FUTEX_BITSET_MATCH_ANY);

        return more < 0 ? more : woken + more;
    }
    return woken;
}

/* The deadline of a waiting operation: relative on the monotonic clock for FUTEX_WAIT, absolute for all others. */
static long futex_deadline(struct call *call, int command, int64_t *deadline)
{
    const struct kernel_timespec *timeout = (void *)call->a[3];
    bool real = (call->a[1] & FUTEX_CLOCK_REALTIME) != 0 || command == FUTEX_LOCK_PI;

    *deadline = NEVER;
    if (timeout == NULL)
        return 0;
    if (is_bad_pointer(timeout))
        return -EFAULT;
    if (!is_valid_time(timeout))
        return -EINVAL;
    *deadline = clock_deadline(call->thread, real ? CLOCK_REALTIME : CLOCK_MONOTONIC, timeout, command != FUTEX_WAIT);
    return 0;
}

static bool waits(int command)
{
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2 ||
           command == FUTEX_WAIT_REQUEUE_PI;
}

static bool has_second_word(int command)
{
    return command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE || command == FUTEX_WAKE_OP ||
           command == FUTEX_WAIT_REQUEUE_PI || command == FUTEX_CMP_REQUEUE_PI;
}

static bool knows_clocks(int command)
{
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_WAIT_REQUEUE_PI || command == FUTEX_LOCK_PI2;
}

long futex_check_word(const uint32_t *word)
{
    if (((uint64_t)word & 3) != 0)
        return -EINVAL;
    return is_bad_pointer(word) ? -EFAULT : 0;
}

static long operate_plain(struct call *call, int command, const struct futex_pair *pair, int64_t deadline)
{
    uint32_t value = (uint32_t)call->a[2];
    uint32_t third = (uint32_t)call->a[5];

    switch (command) {
    case FUTEX_WAIT:
        return futex_wait(call, pair->from, pair->from_private, value, deadline, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAIT_BITSET:
        return futex_wait(call, pair->from, pair->from_private, value, deadline, third);
    case FUTEX_WAKE:
        return futex_wake(call, pair->from, pair->from_private, (int)value, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAKE_BITSET:
        return futex_wake(call, pair->from, pair->from_private, (int)value, third);
    case FUTEX_REQUEUE:
        return futex_requeue(call, pair, (int)value, (int)call->a[3]);
    case FUTEX_CMP_REQUEUE:
        return *pair->from != third ? -EAGAIN : futex_requeue(call, pair, (int)value, (int)call->a[3]);
    case FUTEX_WAKE_OP:
        return futex_wake_op(call, pair, (int)value, (int)call->a[3]);
    default:
        warn_once(call->thread, WARN_REFUSED, "futex: an operation that is not simulated", NULL);
        return -ENOSYS;
    }
}

static long operate_with_owner(struct call *call, int command, const struct futex_pair *pair, int64_t deadline)
{
    switch (command) {
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
        return futex_lock_pi(call, pair->from, pair->from_private, deadline, false);
    case FUTEX_TRYLOCK_PI:
        return futex_lock_pi(call, pair->from, pair->from_private, NEVER, true);
    case FUTEX_UNLOCK_PI:
        return futex_unlock_pi(call, pair->from, pair->from_private);
    case FUTEX_WAIT_REQUEUE_PI:
        return futex_wait_requeue_pi(call, pair, deadline);
    case FUTEX_CMP_REQUEUE_PI:
        return futex_cmp_requeue_pi(call, pair);
    default:
        return operate_plain(call, command, pair, deadline);
    }
}

long sys_futex(struct call *call)
{
    int command = (int)FUTEX_COMMAND(call->a[1]);
    bool is_private = (call->a[1] & FUTEX_PRIVATE_FLAG) != 0;
    struct futex_pair pair = {(uint32_t *)call->a[0], (uint32_t *)call->a[4], is_private, is_private};
    int64_t deadline = NEVER;
    long error = futex_check_word(pair.from);

    if (error == 0 && has_second_word(command))
        error = futex_check_word(pair.to);
    if (error == 0 && (call->a[1] & FUTEX_CLOCK_REALTIME) != 0 && !knows_clocks(command))
        error = -ENOSYS;
    if (error == 0 && waits(command))
        error = futex_deadline(call, command, &deadline);
    return error != 0 ? error : operate_with_owner(call, command, &pair, deadline);
}

/* Remember shared, writable mappings: only words in them need a key that other processes understand. */
long sys_mmap(struct call *call)
{
    struct process *process = call->thread->process;
    long address = NATIVE(mmap, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4], call->a[5]);

    if (address < 0 && address > -4096)
        return address;
    if ((call->a[3] & MAP_TYPE) == MAP_PRIVATE || (call->a[2] & PROT_WRITE) == 0)
        return address;
    if ((call->a[3] & MAP_ANONYMOUS) == 0)
        file_mapped(call->thread, call->a[4]);
    if (process->shared_count == SHARED_RANGES_MAX)
        process->shared_overflow = true;
    else
        process->shared[process->shared_count++] =
            (struct shared_range){(uint64_t)address, (uint64_t)address + (uint64_t)call->a[1]};
    return address;
}

/* Attached System V memory: its size is not known here, so every word is looked up from now on. */
long sys_shmat(struct call *call)
{
    call->thread->process->shared_overflow = true;
    return NATIVE(shmat, call->a[0], call->a[1], call->a[2]);
}
