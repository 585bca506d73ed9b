/* Policies of ranges of memory. The policies are stored in memory of the process, so that a child of fork(2) has them
 * too, and an exec removes them. */
#include "shim/core/memory.h"
#include "shim/sys/numa/numa.h"

const struct memory_policy *memory_range_find(const struct memory_table *table, uint64_t address)
{
    for (unsigned i = 0; i < table->count; i++)
        if (address >= table->ranges[i].start && address < table->ranges[i].end)
            return &table->ranges[i].policy;
    return NULL;
}

/* Return the policy that decides on which node a page is: that of a move, or that of the range; NULL: the policy of the
 * thread. */
const struct memory_policy *memory_range_policy(const struct memory_ranges *ranges, uint64_t address)
{
    const struct memory_policy *policy = ranges != NULL ? memory_range_find(&ranges->places, address) : NULL;

    return policy == NULL && ranges != NULL ? memory_range_find(&ranges->policies, address) : policy;
}

static void insert_at(struct memory_table *table, unsigned place, struct memory_range range)
{
    for (unsigned i = table->count; i > place; i--)
        table->ranges[i] = table->ranges[i - 1];
    table->ranges[place] = range;
    table->count++;
}

static void remove_at(struct memory_table *table, unsigned place)
{
    table->count--;
    for (unsigned i = place; i < table->count; i++)
        table->ranges[i] = table->ranges[i + 1];
}

/* Remove a range from all ranges that overlap it. */
static void clear(struct memory_table *table, uint64_t start, uint64_t end)
{
    for (unsigned i = 0; i < table->count;) {
        struct memory_range *range = &table->ranges[i];

        if (range->end <= start || range->start >= end) {
            i++;
        } else if (range->start < start && range->end > end) {
            insert_at(table, i + 1, (struct memory_range){end, range->end, range->policy});
            range->end = start;
            return;
        } else if (range->start < start) {
            range->end = start;
            i++;
        } else if (range->end > end) {
            range->start = end;
            i++;
        } else {
            remove_at(table, i);
        }
    }
}

static bool goes_on(const struct memory_range *before, const struct memory_range *after)
{
    return before->end == after->start && memcmp(&before->policy, &after->policy, sizeof before->policy) == 0;
}

/* Give a range a policy, or with NULL none. Returns false if there are too many. */
bool memory_range_set(struct memory_table *table, uint64_t start, uint64_t end, const struct memory_policy *policy)
{
    unsigned place = 0;

    if (table->count + 2 > MEMORY_RANGES_MOST)
        return false;
    clear(table, start, end);
    if (policy == NULL)
        return true;
    while (place < table->count && table->ranges[place].start < start)
        place++;
    insert_at(table, place, (struct memory_range){start, end, *policy});
    if (place + 1 < table->count && goes_on(&table->ranges[place], &table->ranges[place + 1])) {
        table->ranges[place].end = table->ranges[place + 1].end;
        remove_at(table, place + 1);
    }
    if (place > 0 && goes_on(&table->ranges[place - 1], &table->ranges[place])) {
        table->ranges[place - 1].end = table->ranges[place].end;
        remove_at(table, place);
    }
    return true;
}

/* Return the tables of a process, which are made when it first needs them; NULL if there is no memory for them. */
struct memory_ranges *memory_ranges_made(struct process *process)
{
    long memory;

    if (process->numa.bound == NULL) {
        memory = NATIVE(mmap, NULL, sizeof(struct memory_ranges), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory < 0 && memory > -4096)
            return NULL;
        process->numa.bound = (struct memory_ranges *)memory;
    }
    return process->numa.bound;
}

/* Forget the policy of a range, because its memory is new. The policy of an unmapped range is removed when something
 * else is mapped there. */
void memory_ranges_forget(struct process *process, uint64_t start, uint64_t size)
{
    uint64_t end = start + ((size + NUMA_PAGE_BYTES - 1) & -NUMA_PAGE_BYTES);

    memory_range_set(&process->numa.bound->policies, start, end, NULL);
    memory_range_set(&process->numa.bound->places, start, end, NULL);
}
