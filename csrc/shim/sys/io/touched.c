/* Finds out which pages of memory that is mapped to files on storages were touched: these are read from the storage,
 * and pages with stores become dirty.
 *
 * The kernel handles a touch without the shim. So the shim looks before each system call and clock read of a thread that has
 * had page faults since its last one: it asks the kernel which pages are there now, and which were stored to (PAGEMAP_SCAN, and
 * userfaultfd(2) with UFFD_FEATURE_WP_ASYNC: Linux 6.7), tells the server, and waits. Until then the thread has seen no
 * clock, so the effect is the same as that of a wait at each touch. Under an older kernel mapped memory takes no time.
 * If userfaultfd(2) is forbidden, touched pages of a shared mapping of a file that is open for writing count as
 * stored to.
 *
 * Touched pages are recorded, so that a second touch costs nothing, until the pages are forgotten every 5 s, the
 * interval at which Linux looks for dirty pages. The kernel then takes the pages of shared mappings out of the
 * process's table (MADV_DONTNEED), and the next touch of each page is seen again. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/io/mapped.h"
#include "shim/turn/turn.h"

#define SCAN_IOCTL 0xc0606610UL /* PAGEMAP_SCAN */
#define SCAN_WRITTEN 2          /* PAGE_IS_WRITTEN */
#define SCAN_PRESENT 8          /* PAGE_IS_PRESENT */
#define REGIONS_MAX 64
#define TOUCHES_MAX 16
#define RUSAGE_THREAD 1
#define RUSAGE_WORDS 18
#define RUSAGE_MINOR 8        /* the word with the number of minor page faults; that of major page faults follows */
#define RENEW_NS 5000000000UL /* vm.dirty_writeback_centisecs */

/* linux/fs.h of Linux 6.7: struct page_region, struct pm_scan_arg */
struct region {
    uint64_t start, end, categories;
};
struct scan {
    uint64_t size, flags, start, end, walk_end, regions, region_count, most_pages;
    uint64_t inverted, wanted, wanted_any, told;
};
_Static_assert(sizeof(struct scan) == 96, "linux/fs.h: struct pm_scan_arg");

/* The ranges to be reported to the server, in the order in which they are found. */
struct touch {
    const struct stored_mount *mount;
    enum simunix_storage what;
    struct file_bytes bytes;
};
struct touches {
    unsigned count;
    struct touch all[TOUCHES_MAX];
};

/* Return the number of page faults of the calling thread. */
static uint64_t count_faults(void)
{
    uint64_t usage[RUSAGE_WORDS] = {0};

    NATIVE(getrusage, RUSAGE_THREAD, usage);
    return usage[RUSAGE_MINOR] + usage[RUSAGE_MINOR + 1];
}

/* Forget the touched pages of shared mappings, all of which were reported to the server. */
static void renew(struct process *process)
{
    struct mapped_files *mapped = process->storage.mapped;

    mapped->renewed_ns = process->page->now_ns;
    mapped_are_clean(process, 0);
    for (unsigned i = 0; i < mapped->count; i++) {
        const struct mapped_file *file = &mapped->files[i];

        for (uint64_t block = 0; file->is_shared && block < file->block_count; block++)
            if (file->blocks[block] == BLOCK_TOUCHED)
                file->blocks[block] = BLOCK_UNTOUCHED;
        if (file->is_shared)
            NATIVE(madvise, file->start, file->end - file->start, MADV_DONTNEED);
    }
}

/* Looking */

/* Record that bytes of a file are touched; join them with the bytes recorded before, if they follow these. False if
 * there is no room. */
static bool note(struct touches *touches, const struct mapped_file *file, enum simunix_storage what, uint64_t from, uint64_t to)
{
    struct touch *last = touches->count > 0 ? &touches->all[touches->count - 1] : NULL;
    int64_t offset = mapped_offset(file, from);

    if (last != NULL && last->what == what && last->bytes.file == file->file &&
        last->bytes.offset + (int64_t)last->bytes.count == offset) {
        last->bytes.count += to - from;
        return true;
    }
    if (touches->count == TOUCHES_MAX)
        return false;
    touches->all[touches->count++] = (struct touch){file->mount, what, {file->file, offset, to - from, file->size}};
    return true;
}

/* Return the length of the file at the time of the mapping. Bytes that were added since are newer than the mapping, and
 * need not be read from the storage. */
static uint64_t file_end(const struct mapped_file *file)
{
    return file->start + whole_pages((int64_t)file->size > file->offset ? file->size - (uint64_t)file->offset : 0);
}

static bool note_read(struct touches *touches, const struct mapped_file *file, const struct region *region)
{
    for (uint64_t at = region->start & -AROUND_BYTES; at < region->end; at += AROUND_BYTES) {
        uint8_t *block = &file->blocks[(at - file->origin) / AROUND_BYTES];
        uint64_t from = larger(at, file->start);
        uint64_t to = smaller(smaller(at + AROUND_BYTES, file->end), file_end(file));

        if (*block != BLOCK_UNTOUCHED)
            continue;
        if (from < to && !note(touches, file, STORAGE_READ, from, to))
            return false;
        *block = BLOCK_TOUCHED;
    }
    return true;
}

static bool note_stored(struct touches *touches, const struct mapped_file *file, const struct region *region)
{
    for (uint64_t at = region->start; at < region->end; at += PAGE_BYTES) {
        uint64_t page = (at - file->origin) / PAGE_BYTES;
        uint8_t *bits = &dirty_bits(file)[page / 8];

        if ((*bits >> page % 8 & 1) != 0)
            continue;
        if (!note(touches, file, STORAGE_WRITE, at, at + PAGE_BYTES))
            return false;
        *bits |= (uint8_t)(1U << page % 8);
    }
    return true;
}

/* Record newly touched pages of one mapping; return false if there was no room for all of them, or if the kernel does
 * not report them. */
static bool scan_file(struct touches *touches, const struct mapped_file *file, long pagemap)
{
    struct region regions[REGIONS_MAX];
    struct scan scan = {.size = sizeof scan,
                        .start = file->start,
                        .end = file->end,
                        .regions = (uint64_t)regions,
                        .region_count = REGIONS_MAX,
                        .wanted = SCAN_PRESENT,
                        .told = SCAN_PRESENT | SCAN_WRITTEN};
    long count;

    do {
        count = NATIVE(ioctl, pagemap, SCAN_IOCTL, &scan);
        for (long i = 0; i < count; i++)
            if (!note_read(touches, file, &regions[i]) ||
                (file->may_store && (regions[i].categories & SCAN_WRITTEN) != 0 && !note_stored(touches, file, &regions[i])))
                return false;
        scan.start = scan.walk_end;
    } while (count == REGIONS_MAX);
    return count >= 0;
}

/* Record pages that were touched since the last look, as many as there is room for. */
static void scan_all(struct process *process, struct touches *touches)
{
    long pagemap = proc_open("self/pagemap");

    touches->count = 0;
    for (unsigned i = 0; pagemap >= 0 && i < process->storage.mapped->count; i++) {
        const struct mapped_file *file = &process->storage.mapped->files[i];

        if (file->may_store && process->storage.store_watch == 0) /* a forked child looks at its own memory */
            mapped_watch(process, file);
        if (!scan_file(touches, file, pagemap))
            break;
    }
    if (pagemap >= 0)
        NATIVE(close, pagemap);
}

/* Report the ranges to the server, and wait, one block after the other, as for one read after the other. */
static void tell(struct call *call, const struct touch *touch)
{
    struct file_bytes bytes = touch->bytes;
    int64_t end = bytes.offset + (int64_t)bytes.count;

    if (touch->what == STORAGE_WRITE) {
        storage_tell_of(call, touch->mount, STORAGE_WRITE, &bytes);
        return;
    }
    for (; bytes.offset < end; bytes.offset += (int64_t)bytes.count) {
        bytes.count = end - bytes.offset < (int64_t)AROUND_BYTES ? (uint64_t)(end - bytes.offset) : AROUND_BYTES;
        storage_tell_of(call, touch->mount, STORAGE_READ, &bytes);
    }
}

static bool is_due(const struct thread *thread)
{
    const struct process *process = thread->process;

    return count_faults() != thread->faults || process->page->now_ns >= process->storage.mapped->renewed_ns + RENEW_NS;
}

static void look(struct call *call)
{
    struct process *process = call->thread->process;
    struct touches touches;

    do {
        scan_all(process, &touches);
        for (unsigned i = 0; i < touches.count; i++)
            tell(call, &touches.all[i]);
        if (touches.count > 0) /* a thread that reads the time stamp counter between touches does not spin (sys/time/tsc.c) */
            call->thread->spin.since_ns = process->page->now_ns;
    } while (touches.count == TOUCHES_MAX);
    if (process->page->now_ns >= process->storage.mapped->renewed_ns + RENEW_NS)
        renew(process);
    call->thread->faults = count_faults();
}

/* Before a call: let the time pass for the pages that were touched before the call. */
__attribute__((cold)) void mapped_look(struct call *call)
{
    if (call->thread->process->storage.mapped != NULL && is_due(call->thread))
        look(call);
}

/* Before a clock read, during which signals are not blocked: let the time pass for the pages that were touched. */
__attribute__((cold)) void mapped_look_at_clock(struct thread *thread)
{
    uint64_t all = SIGNALS_IN_SHIM & ~(thread->process->traps.is_tracee ? SIGNAL_BIT(SIGTRAP) : 0);
    struct call call = {.number = __NR_clock_gettime, .thread = thread, .mask = SIGNALS_ALL};

    if (!is_due(thread))
        return;
    NATIVE(rt_sigprocmask, SIG_SETMASK, &all, &call.mask_before, 8);
    look(&call);
    signals_stop_if_due(thread, call.mask_before);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &call.mask_before, NULL, 8);
}
