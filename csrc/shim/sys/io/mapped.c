/* Records which memory is mapped to files on storages, and handles calls about that memory.
 *
 * A mapping is recorded from mmap(2) on, as long as it exists. The records are in private memory, of which a forked
 * child has its own copy. If a process has more than MAPPED_MAX mappings, the use of the further ones takes no time. */
#include "shim/core/channel.h"
#include "shim/sys/io/mapped.h"
#include "shim/sys/ipc/ipc.h"
#include "shim/sys/procfs/procfs.h"

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_DATA 3
#define SEEK_HOLE 4
#define POSIX_FADV_WILLNEED 3
#define POSIX_FADV_DONTNEED 4
#define LAST_BYTE INT64_MAX

/* Calls that make or end mappings, or that concern mapped memory or the cached pages of a file. */
bool mapped_is_changed_by(long number)
{
    return number == __NR_mmap || number == __NR_munmap || number == __NR_mremap || number == __NR_msync ||
           number == __NR_madvise || number == __NR_fadvise64 || number == __NR_readahead;
}

/* Before any call of a process that has mapped files, the shim looks at their memory. */
bool mapped_concerns(const struct call *call)
{
    return call->thread->process->storage.mapped != NULL || mapped_is_changed_by(call->number);
}

static void *new_memory(uint64_t bytes)
{
    long memory = NATIVE(mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory < 0 && memory > -4096 ? NULL : (void *)memory;
}

static void release(const struct mapped_files *mapped, const struct mapped_file *gone)
{
    for (unsigned i = 0; i < mapped->count; i++)
        if (mapped->files[i].blocks == gone->blocks)
            return;
    NATIVE(munmap, gone->blocks, whole_pages(mapped_bytes(gone)));
}

/* Record that a range of memory is not mapped any more; the rest of a mapping stays recorded. */
static void forget(struct mapped_files *mapped, uint64_t from, uint64_t to)
{
    for (unsigned i = 0; mapped != NULL && i < mapped->count; i++) {
        struct mapped_file *file = &mapped->files[i];
        struct mapped_file whole = *file;

        if (whole.end <= from || whole.start >= to)
            continue;
        file->end = smaller(larger(whole.start, from), whole.end);
        if (to < whole.end && (file->end == whole.start || mapped->count < MAPPED_MAX)) {
            struct mapped_file *behind = file->end == whole.start ? file : &mapped->files[mapped->count++];

            *behind = whole;
            behind->start = to;
            behind->offset = mapped_offset(&whole, to);
        } else if (file->end == whole.start) {
            *file = mapped->files[--mapped->count];
            release(mapped, &whole);
            i--;
        }
    }
}

/* Allocate the records of a mapping's blocks, in which nothing is known yet. */
static bool give_blocks(struct mapped_file *file)
{
    file->origin = file->start & -AROUND_BYTES;
    file->block_count = (file->end - file->origin + AROUND_BYTES - 1) / AROUND_BYTES;
    file->blocks = new_memory(mapped_bytes(file));
    return file->blocks != NULL;
}

/* Add a mapping at which the shim looks from now on, if the table has room for it. */
static void put(struct process *process, const struct mapped_file *file)
{
    if (process->storage.mapped == NULL && (process->storage.mapped = new_memory(sizeof *process->storage.mapped)) != NULL)
        process->storage.mapped->renewed_ns = process->page->now_ns;
    if (process->storage.mapped == NULL || process->storage.mapped->count == MAPPED_MAX) {
        NATIVE(munmap, file->blocks, whole_pages(mapped_bytes(file)));
        return;
    }
    process->storage.mapped->files[process->storage.mapped->count++] = *file;
    process->storage.look_at_mapped = mapped_look_at_clock;
    mapped_watch(process, file);
}

/* Mark the blocks within a hole of the file, for which there are no data on the storage or in memory; the hole goes
 * from one byte of the file to another. */
static void put_hole(const struct mapped_file *file, int64_t from, int64_t to)
{
    for (uint64_t block = 0; block < file->block_count; block++) {
        uint64_t first = larger(file->origin + block * AROUND_BYTES, file->start);
        uint64_t last = smaller(file->origin + (block + 1) * AROUND_BYTES, file->end);

        if (mapped_offset(file, first) >= from && mapped_offset(file, last) <= to)
            file->blocks[block] = BLOCK_HOLE;
    }
}

/* Mark the blocks that are holes of the file now: such a block will never be read from the storage, since only stores
 * can fill it. */
static void find_holes(const struct mapped_file *file, long fd)
{
    long position = NATIVE(lseek, fd, 0, SEEK_CUR);
    long at = file->offset;

    while (at < mapped_offset(file, file->end)) {
        long data = NATIVE(lseek, fd, at, SEEK_DATA);

        if (data < 0 && data != -ENXIO) /* this file system does not report holes */
            break;
        put_hole(file, at, data < 0 ? LAST_BYTE : data);
        at = data < 0 ? -1 : NATIVE(lseek, fd, data, SEEK_HOLE);
        if (at < 0)
            break;
    }
    NATIVE(lseek, fd, position, SEEK_SET);
}

/* mmap(2) */
static void begin(struct call *call, uint64_t start)
{
    struct process *process = call->thread->process;
    struct mapped_file file = {.start = start, .end = start + whole_pages((uint64_t)call->a[1]), .offset = call->a[5]};
    struct statx status;

    forget(process->storage.mapped, file.start, file.end);
    if ((call->a[3] & MAP_ANONYMOUS) != 0 || (file.mount = stored_mount_of(process, call->a[4], "", &status)) == NULL)
        return;
    file.file = stored_file_number(stored_device(&status), status.stx_ino);
    file.size = status.stx_size;
    file.is_shared = (call->a[3] & MAP_TYPE) != MAP_PRIVATE;
    file.may_store = file.is_shared && (NATIVE(fcntl, call->a[4], F_GETFL, 0) & O_ACCMODE) == O_RDWR;
    if (!give_blocks(&file))
        return;
    find_holes(&file, call->a[4]);
    put(process, &file);
}

/* Update the records of a mapping that has moved to another address, or has become longer. Nothing is known of the
 * blocks that are new at its end. */
static void take_over(const struct mapped_file *moved, const struct mapped_file *before, uint64_t from, uint64_t size)
{
    for (uint64_t block = 0; block < moved->block_count; block++) {
        uint64_t first = larger(moved->origin + block * AROUND_BYTES, moved->start) - moved->start;
        uint64_t old = smaller((from + first - before->origin) / AROUND_BYTES, before->block_count - 1);

        moved->blocks[block] = first >= size ? BLOCK_HOLE : before->blocks[old];
    }
}

/* mremap(2) */
static void move(struct process *process, const struct call *call, uint64_t start)
{
    uint64_t from = (uint64_t)call->a[0], size = whole_pages((uint64_t)call->a[1]);
    struct mapped_file before = {0}, moved;

    for (unsigned i = 0; i < process->storage.mapped->count; i++)
        if (process->storage.mapped->files[i].start <= from && from < process->storage.mapped->files[i].end)
            before = process->storage.mapped->files[i];
    moved = before;
    moved.offset = mapped_offset(&before, from);
    moved.start = start;
    moved.end = start + whole_pages((uint64_t)call->a[2]);
    if (before.blocks != NULL && give_blocks(&moved))
        take_over(&moved, &before, from, size);
    forget(process->storage.mapped, from, from + size);
    forget(process->storage.mapped, start, moved.end);
    if (before.blocks != NULL && moved.blocks != NULL)
        put(process, &moved);
}

/* msync(2) and madvise(2) of a range of memory: tell the server about the bytes of files that are mapped there. While a
 * thread waits, other threads may change the mappings, so the needed data of each mapping are copied before. */
static long tell_of_range(struct call *call, enum simunix_storage what)
{
    struct process *process = call->thread->process;
    uint64_t from = (uint64_t)call->a[0], to = from + whole_pages((uint64_t)call->a[1]);
    long error = 0;

    for (unsigned i = 0; i < process->storage.mapped->count; i++) {
        struct mapped_file *file = &process->storage.mapped->files[i];
        const struct stored_mount *mount = file->mount;
        uint64_t first = larger(file->start, from), last = smaller(file->end, to);
        struct file_bytes bytes = {file->file, mapped_offset(file, first), last - first, file->size};
        long failed;

        if (first >= last || (what == STORAGE_SYNC && !file->may_store))
            continue;
        if (what == STORAGE_SYNC)
            mapped_range_is_clean(process, file, first, last);
        failed = storage_tell_of(call, mount, what, &bytes);
        error = error != 0 ? error : failed;
    }
    return error;
}

/* posix_fadvise(2), readahead(2) */
static long advise(struct call *call)
{
    bool is_read = call->number == __NR_readahead || call->a[3] == POSIX_FADV_WILLNEED;
    const struct stored_mount *mount;
    struct file_bytes bytes;
    struct statx status;
    int64_t end;

    if (!is_read && call->a[3] != POSIX_FADV_DONTNEED)
        return 0;
    mount = stored_mount_of(call->thread->process, call->a[0], "", &status);
    if (mount == NULL || (mount->flags & STORED_CACHED) == 0)
        return 0;
    bytes = (struct file_bytes){stored_file_number(stored_device(&status), status.stx_ino), call->a[1], 0, status.stx_size};
    if (__builtin_add_overflow(call->a[1], call->a[2], &end) || call->a[2] == 0 || end > (int64_t)status.stx_size)
        end = (int64_t)whole_pages(status.stx_size);
    if (!is_read) { /* pages that lie only partly in the range stay */
        bytes.offset = (int64_t)whole_pages((uint64_t)bytes.offset);
        end &= -(int64_t)PAGE_BYTES;
    }
    if (end <= bytes.offset)
        return 0;
    bytes.count = (uint64_t)(end - bytes.offset);
    return storage_tell_of(call, mount, is_read ? STORAGE_AHEAD : STORAGE_FORGET, &bytes);
}

/* Handle a call that the kernel has carried out; return 0, or the errno with which the call fails nevertheless. */
__attribute__((cold)) long mapped_pass(struct call *call, long result)
{
    struct process *process = call->thread->process;

    if (call->number == __NR_mmap)
        begin(call, (uint64_t)result);
    else if (call->number == __NR_fadvise64 || call->number == __NR_readahead)
        return advise(call);
    else if (process->storage.mapped == NULL)
        return 0;
    else if (call->number == __NR_munmap)
        forget(process->storage.mapped, (uint64_t)call->a[0], (uint64_t)call->a[0] + whole_pages((uint64_t)call->a[1]));
    else if (call->number == __NR_mremap)
        move(process, call, (uint64_t)result);
    else if (call->number == __NR_msync && (call->a[2] & MS_SYNC) != 0)
        return tell_of_range(call, STORAGE_SYNC);
    else if (call->number == __NR_madvise && call->a[2] == MADV_WILLNEED)
        return tell_of_range(call, STORAGE_AHEAD);
    return 0;
}

/* Add the mappings of the program's file and of the libraries that the loader has mapped before the shim was loaded */

static bool adopt(void *data, const struct map_query *mapping, const char *path)
{
    struct process *process = data;
    struct mapped_file file = {.start = mapping->start, .end = mapping->end, .offset = (int64_t)mapping->offset};
    struct statx status;

    if (*path != '/' || (file.mount = stored_mount_of(process, AT_FDCWD, path, &status)) == NULL)
        return false;
    file.file = stored_file_number(stored_device(&status), status.stx_ino);
    file.size = status.stx_size;
    if (give_blocks(&file))
        put(process, &file);
    return false;
}

__attribute__((cold)) void mapped_adopt(struct process *process)
{
    mappings_walk(adopt, process);
}
