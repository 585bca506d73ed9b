/* Stores to memory that is mapped to files on storages: records which pages the server knows to be dirty, and makes the
 * kernel report the next store to any other page. The reports to the server are made in touched.c. */
#include "shim/core/channel.h"
#include "shim/sys/io/mapped.h"

#include <linux/ioctl.h>
#include <linux/userfaultfd.h>

#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

static void start_watch(struct process *process)
{
    struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED};
    long fd;

    descriptors_raise();
    fd = NATIVE(userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (fd >= 0 && NATIVE(ioctl, fd, UFFDIO_API, &api) < 0) {
        NATIVE(close, fd);
        fd = -1;
    }
    process->storage.store_watch = fd < 0 ? -1 : 1 + descriptor_hide(process, (int)fd);
    descriptors_limit(process);
}

/* Make the kernel report the next stores to these pages, whose earlier stores were reported already. */
static void watch_again(const struct process *process, uint64_t from, uint64_t to)
{
    struct uffdio_writeprotect range = {.range = {from, to - from}, .mode = UFFDIO_WRITEPROTECT_MODE_WP};

    if (process->storage.store_watch > 0)
        NATIVE(ioctl, descriptor_number(process, process->storage.store_watch - 1), UFFDIO_WRITEPROTECT, &range);
    else
        NATIVE(madvise, from, to - from, MADV_DONTNEED);
}

/* Prepare a new mapping, or one that has moved, so that touched pages and stores can be seen: single pages, no huge
 * ones, of which the kernel would report 2 MiB as touched. */
void mapped_watch(struct process *process, const struct mapped_file *file)
{
    struct uffdio_register range = {.range = {file->start, file->end - file->start}, .mode = UFFDIO_REGISTER_MODE_WP};

    NATIVE(madvise, file->start, file->end - file->start, MADV_NOHUGEPAGE);
    if (!file->may_store)
        return;
    if (process->storage.store_watch == 0)
        start_watch(process);
    if (process->storage.store_watch > 0)
        NATIVE(ioctl, descriptor_number(process, process->storage.store_watch - 1), UFFDIO_REGISTER, &range);
    watch_again(process, file->start, file->end);
}

static void clear_dirty(const struct mapped_file *file, uint64_t from, uint64_t to)
{
    for (uint64_t page = (from - file->origin) / PAGE_BYTES; page < (to - file->origin) / PAGE_BYTES; page++)
        dirty_bits(file)[page / 8] &= (uint8_t)~(1U << page % 8);
}

/* Note that the pages of a range were written to the storage: the next store makes a page dirty again. */
void mapped_range_is_clean(struct process *process, struct mapped_file *file, uint64_t from, uint64_t to)
{
    if (!file->may_store)
        return;
    clear_dirty(file, from, to);
    watch_again(process, from, to);
}

/* Note that a file was written to its storage; 0: all files were written. */
void mapped_are_clean(struct process *process, uint64_t file)
{
    for (unsigned i = 0; process->storage.mapped != NULL && i < process->storage.mapped->count; i++) {
        struct mapped_file *each = &process->storage.mapped->files[i];

        if (file == 0 || each->file == file)
            mapped_range_is_clean(process, each, each->start, each->end);
    }
}
