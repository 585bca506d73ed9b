/* The times of the files that the emulation has changed, in memory that all processes share.
 *
 * The kernel stamps files with the real clock, at the grain of its ticks, and lets nobody set the time of change; so every call
 * that changes a file notes the virtual time here, under the file's device and inode, and stat looks it up. The shim
 * sees every change, except for stores to shared mappings, which count as made at the moment of the mapping. Without an
 * entry:
 * - a file that has not been changed since the run began keeps its real times;
 * - a file that has been changed since was made by the run's own preparations, and shows the time at which virtual time began;
 * - reading changes nothing (noatime): the kernel's time of access also depends on other programs of this computer.
 *
 * Only the thread that has the turn calls these functions. When the table is full, removed files are forgotten first,
 * in the order of their removal, then the files with the oldest change. This order depends on virtual time only, not on
 * inode numbers. */
#include "shim/sys/file/file.h"

#define ENTRIES_MAX 131072
#define BUCKETS 65536
#define GONE_KEPT 1024 /* removed files may still be open, and a program may ask for their times */

struct entry {
    uint64_t device, inode;
    struct file_stamps stamps;
    uint32_t next;         /* the next entry in the bucket; entries are numbered from 1 */
    uint32_t older, newer; /* lists in the order in which entries are forgotten */
    uint32_t is_gone;
};

struct order {
    uint32_t oldest, newest, count;
};

struct table {
    uint32_t used;
    struct order orders[2]; /* living files by their last change, removed ones by their removal */
    uint32_t unused;
    uint32_t buckets[BUCKETS];
    struct entry entries[ENTRIES_MAX + 1];
};

_Static_assert(SIMUNIX_CLOCK_BYTES + sizeof(struct table) <= SIMUNIX_SLOTS_OFFSET, "protocol.h");

static struct table *table_of(const struct thread *thread)
{
    return (struct table *)((char *)thread->process->page + SIMUNIX_CLOCK_BYTES);
}

static uint32_t *bucket_of(struct table *table, uint64_t device, uint64_t inode)
{
    uint64_t hash = (inode ^ device << 40 ^ device >> 24) * 0x9e3779b97f4a7c15UL;

    return &table->buckets[hash >> 48];
}

_Static_assert(BUCKETS == 1 << 16, "bucket_of");

static struct entry *find(struct table *table, uint64_t device, uint64_t inode)
{
    uint32_t number = *bucket_of(table, device, inode);

    while (number != 0 && (table->entries[number].inode != inode || table->entries[number].device != device))
        number = table->entries[number].next;
    return number == 0 ? NULL : &table->entries[number];
}

static void leave_order(struct table *table, struct entry *entry)
{
    struct order *order = &table->orders[entry->is_gone];

    *(entry->older != 0 ? &table->entries[entry->older].newer : &order->oldest) = entry->newer;
    *(entry->newer != 0 ? &table->entries[entry->newer].older : &order->newest) = entry->older;
    order->count--;
}

static void join_order(struct table *table, struct entry *entry, bool is_gone)
{
    struct order *order = &table->orders[is_gone];
    uint32_t number = (uint32_t)(entry - table->entries);

    entry->is_gone = is_gone;
    entry->older = order->newest;
    entry->newer = 0;
    *(order->newest != 0 ? &table->entries[order->newest].newer : &order->oldest) = number;
    order->newest = number;
    order->count++;
}

/* Forget the first file in the order of forgetting; its entry becomes free. */
static struct entry *forget(struct table *table)
{
    struct entry *entry = &table->entries[table->orders[table->orders[true].count > 0].oldest];
    uint32_t *link = bucket_of(table, entry->device, entry->inode);

    leave_order(table, entry);
    while (*link != (uint32_t)(entry - table->entries))
        link = &table->entries[*link].next;
    *link = entry->next;
    return entry;
}

static struct entry *add(struct table *table, uint64_t device, uint64_t inode)
{
    bool forgets = table->used == ENTRIES_MAX || table->orders[true].count >= GONE_KEPT;
    struct entry *entry = forgets ? forget(table) : &table->entries[++table->used];
    uint32_t *bucket = bucket_of(table, device, inode);

    *entry = (struct entry){.device = device, .inode = inode, .next = *bucket};
    *bucket = (uint32_t)(entry - table->entries);
    join_order(table, entry, false);
    return entry;
}

static struct kernel_timespec timespec_of(int64_t ns)
{
    int64_t rest = ns % SECOND_NS;

    return (struct kernel_timespec){(ns - rest) / SECOND_NS - (rest < 0), rest + (rest < 0 ? SECOND_NS : 0)};
}

/* Return whether the kernel has set this time since the run began. The beginning is a tick of the kernel's clock for
 * file stamps (clock page). */
static bool is_of_this_run(const struct thread *thread, const struct kernel_timespec *time)
{
    int64_t begun = thread->process->page->begun_ns;

    return time->seconds > begun / SECOND_NS || (time->seconds == begun / SECOND_NS && time->nanoseconds >= begun % SECOND_NS);
}

/* Return the times to show for a file without an entry, made from the kernel's times. */
static void show_unnoted(struct thread *thread, struct file_stamps *stamps)
{
    struct kernel_timespec beginning = timespec_of(thread->process->page->realtime_ns);

    if (is_of_this_run(thread, &stamps->at[STAMP_CHANGE])) {
        if (is_of_this_run(thread, &stamps->at[STAMP_WRITE]))
            stamps->at[STAMP_WRITE] = beginning;
        stamps->at[STAMP_CHANGE] = beginning;
    }
    stamps->at[STAMP_ACCESS] = stamps->at[STAMP_WRITE];
}

void file_show(struct thread *thread, uint64_t device, uint64_t inode, struct file_stamps *stamps)
{
    const struct entry *entry = find(table_of(thread), device, inode);

    if (entry != NULL)
        *stamps = entry->stamps;
    else
        show_unnoted(thread, stamps);
}

/* Return the entry of a file, which becomes the most recently changed one. A new entry begins with the times that were
 * shown for the file until now. */
static struct entry *changed_entry(struct thread *thread, const struct stat *status)
{
    struct table *table = table_of(thread);
    struct entry *entry = find(table, status->st_dev, status->st_ino);

    if (entry != NULL) {
        leave_order(table, entry);
        join_order(table, entry, false);
        return entry;
    }
    entry = add(table, status->st_dev, status->st_ino);
    entry->stamps = (struct file_stamps){{{(int64_t)status->st_atime, (int64_t)status->st_atime_nsec},
                                          {(int64_t)status->st_mtime, (int64_t)status->st_mtime_nsec},
                                          {(int64_t)status->st_ctime, (int64_t)status->st_ctime_nsec}}};
    show_unnoted(thread, &entry->stamps);
    return entry;
}

/* To record a change is not a clock read of the program: it costs no virtual time, since the change itself has had its
 * price. */
static struct kernel_timespec now(struct thread *thread)
{
    struct simunix_clock_page *page = thread->process->page;

    return timespec_of((int64_t)page->now_ns + page->realtime_ns);
}

void file_note(struct thread *thread, const struct stat *status, enum file_change change)
{
    static const enum file_stamp first[] = {
        [FILE_NEW] = STAMP_ACCESS, [FILE_WRITTEN] = STAMP_WRITE, [FILE_CHANGED] = STAMP_CHANGE};
    struct entry *entry = changed_entry(thread, status);

    for (enum file_stamp stamp = first[change]; stamp < STAMP_COUNT; stamp++)
        entry->stamps.at[stamp] = now(thread);
}

/* Times that a program has set; NULL leaves one as it is. */
void file_note_times(struct thread *thread, const struct stat *status, const struct kernel_timespec *access,
                     const struct kernel_timespec *write)
{
    struct entry *entry = changed_entry(thread, status);

    if (access != NULL)
        entry->stamps.at[STAMP_ACCESS] = *access;
    if (write != NULL)
        entry->stamps.at[STAMP_WRITE] = *write;
    entry->stamps.at[STAMP_CHANGE] = now(thread);
}

/* Note that the last name of a file was removed. A later file with the same inode is recorded as new. */
void file_gone(struct thread *thread, const struct stat *status)
{
    struct table *table = table_of(thread);
    struct entry *entry = find(table, status->st_dev, status->st_ino);

    if (entry == NULL || entry->is_gone)
        return;
    leave_order(table, entry);
    join_order(table, entry, true);
}
