/* Memory that is mapped to files on storages: mapped.c has the mappings, touched.c finds out which of their pages were
 * touched, stores.c records the pages that were stored to. */
#ifndef SIMUNIX_SYS_IO_MAPPED_H
#define SIMUNIX_SYS_IO_MAPPED_H

#include "shim/sys/io/io.h"

#define MAPPED_MAX 256
#define PAGE_BYTES 4096UL
#define AROUND_BYTES 131072UL /* the bytes that Linux reads around a touched page (read_ahead_kb) */

/* The state of a block of AROUND_BYTES of a mapping. A hole is never read from the storage. */
enum block { BLOCK_UNTOUCHED = 0, BLOCK_TOUCHED = 1, BLOCK_HOLE = 2 };

/* A mapping, or the rest of it after a part was unmapped. Blocks and pages are counted from `origin`, the multiple of
 * AROUND_BYTES at or before the beginning of the whole mapping. */
struct mapped_file {
    uint64_t start, end;
    uint64_t origin;
    int64_t offset; /* the offset of `start` in the file */
    uint64_t file, size;
    const struct stored_mount *mount;
    bool is_shared, may_store;
    uint8_t *blocks; /* enum block of each, then a bit for each page: whether the server knows that it is dirty */
    uint64_t block_count;
};

struct mapped_files {
    uint64_t renewed_ns; /* the virtual time at which the touched pages were last forgotten (touched.c) */
    unsigned count;
    struct mapped_file files[MAPPED_MAX];
};

static inline uint8_t *dirty_bits(const struct mapped_file *file)
{
    return file->blocks + file->block_count;
}

static inline uint64_t mapped_bytes(const struct mapped_file *file)
{
    return file->block_count + file->block_count * (AROUND_BYTES / PAGE_BYTES / 8);
}

static inline uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + PAGE_BYTES - 1) & -PAGE_BYTES;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Return the offset in the file of an address in a mapping. */
static inline int64_t mapped_offset(const struct mapped_file *file, uint64_t address)
{
    return file->offset + (int64_t)(address - file->start);
}

/* mapped.c */
bool mapped_concerns(const struct call *call);
bool mapped_is_changed_by(long number);
long mapped_pass(struct call *call, long result);
void mapped_adopt(struct process *process);

/* touched.c */
void mapped_look(struct call *call);
void mapped_look_at_clock(struct thread *thread);

/* stores.c */
void mapped_are_clean(struct process *process, uint64_t file);
void mapped_range_is_clean(struct process *process, struct mapped_file *file, uint64_t from, uint64_t to);
void mapped_watch(struct process *process, const struct mapped_file *file);

#endif
