/* Finds room between functions, near an instruction: bytes that no program ever executes.
 *
 * The table for unwinding (.eh_frame_hdr) says where each function begins and ends. Bytes between two functions that
 * are all no-operations or traps are padding, by which the linker or the assembler has aligned the second function.
 * Bytes inside of a function that only look like padding may be executed (loops are aligned, too), so without the table
 * no padding can be used. Only the padding of Go programs is recognised without the table: a run of `int3` up to an
 * aligned address. */
#include "shim/core/memory.h"
#include "shim/entry/entry.h"
#include "shim/sys/ipc/ipc.h"

#include <linux/elf.h>

#define PAGE_OF(address) ((address) & ~4095UL)
#define SHORT_JUMP_BYTES 2
#define MAPPINGS_OF_FILE 8
#define LONGEST_GAP 64
#define GO_ALIGNMENT 32

/* The table for unwinding: a header, and a pair of offsets for each function, in the order of the functions' beginnings. */
struct unwind_table {
    uint8_t version, pointer_encoding, count_encoding, table_encoding;
    int32_t frames;
    uint32_t count;
    struct {
        int32_t function, description;
    } rows[];
};

/* The beginning of the description of a function (FDE). Each address in it is relative to the place of the address itself. */
struct description {
    uint32_t length, common;
    int32_t function;
    uint32_t size;
};

/* Return where the file that contains an instruction is mapped: the address of its first byte. */
static const Elf64_Ehdr *image_of(const struct map_query *text)
{
    struct map_query query = *text;

    for (int i = 0; i < MAPPINGS_OF_FILE && query.offset != 0; i++)
        if (!mapping_find(query.start - 1, &query, NULL, 0) || query.inode != text->inode || query.minor != text->minor)
            return NULL;
    return query.offset == 0 && memcmp((void *)query.start, ELFMAG, SELFMAG) == 0 ? (void *)query.start : NULL;
}

static const struct unwind_table *table_of(const Elf64_Ehdr *image)
{
    const Elf64_Phdr *segments = (const void *)((const uint8_t *)image + image->e_phoff);
    uint64_t first = ~0UL;
    uint64_t at = 0;

    for (int i = 0; i < image->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr < first)
            first = PAGE_OF(segments[i].p_vaddr);
        else if (segments[i].p_type == PT_GNU_EH_FRAME)
            at = segments[i].p_vaddr;
    }
    if (at == 0)
        return NULL;
    const struct unwind_table *table = (const void *)((uint64_t)image + at - first);
    return table->version == 1 && table->pointer_encoding == 0x1b && table->count_encoding == 0x03 &&
                   table->table_encoding == 0x3b
               ? table
               : NULL;
}

static uint64_t begin_of(const struct unwind_table *table, uint32_t row)
{
    return (uint64_t)table + (uint64_t)(int64_t)table->rows[row].function;
}

/* Return where the function of a row ends; 0 if its description is not of the usual form. */
static uint64_t end_of(const struct unwind_table *table, uint32_t row)
{
    const struct description *found = (const void *)((uint64_t)table + (uint64_t)(int64_t)table->rows[row].description);
    uint64_t begin = (uint64_t)&found->function + (uint64_t)(int64_t)found->function;

    return begin == begin_of(table, row) ? begin + found->size : 0;
}

/* Return the last row whose function begins at or before an address; 0 also if there is no such row. */
static uint32_t row_before(const struct unwind_table *table, uint64_t address)
{
    uint32_t low = 0;
    uint32_t high = table->count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (begin_of(table, middle) <= address)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Return the length of the no-operation or `int3` at an address; 0 if another instruction is there. */
static unsigned idle_bytes(const uint8_t *at)
{
    unsigned prefixes = 0;

    if (at[0] == 0xcc)
        return 1;
    while (prefixes < 8 && (at[prefixes] == 0x66 || at[prefixes] == 0x2e))
        prefixes++;
    at += prefixes;
    if (at[0] == 0x90)
        return prefixes + 1;
    if (at[0] != 0x0f || at[1] != 0x1f || (at[2] & 0x38) != 0 || at[2] >> 6 == 3)
        return 0;
    return prefixes + 3 + ((at[2] & 7) == 4) + (at[2] >> 6 == 1 ? 1 : at[2] >> 6 == 2 ? 4 : 0);
}

static bool is_idle(uint64_t begin, uint64_t end)
{
    while (begin < end) {
        unsigned length = idle_bytes((const uint8_t *)begin);

        if (length == 0)
            return false;
        begin += length;
    }
    return begin == end;
}

/* Return where the function begins that contains an instruction; 0 if no table says so. */
uint64_t function_begin(uint64_t instruction, const struct map_query *text, uint64_t *image)
{
    const Elf64_Ehdr *header = image_of(text);
    const struct unwind_table *table = header != NULL ? table_of(header) : NULL;
    uint32_t row;

    *image = (uint64_t)header;
    if (table == NULL || table->count == 0)
        return 0;
    row = row_before(table, instruction);
    return begin_of(table, row) <= instruction && end_of(table, row) > instruction ? begin_of(table, row) : 0;
}

static bool reaches(uint64_t instruction, uint64_t gap)
{
    int64_t distance = (int64_t)(gap - instruction) - SHORT_JUMP_BYTES;

    return distance >= INT8_MIN && distance <= INT8_MAX;
}

/* Return whether a gap is better than another: it is in the instruction's own page, since each page that is written to
 * becomes memory of the process's own. */
static bool is_better(uint64_t instruction, uint64_t gap, uint64_t than)
{
    return than == 0 || (PAGE_OF(gap) == PAGE_OF(instruction) && PAGE_OF(than) != PAGE_OF(instruction));
}

static uint64_t gap_in_table(const struct unwind_table *table, uint64_t instruction, unsigned size)
{
    uint64_t best = 0;

    for (uint32_t row = row_before(table, instruction - INT8_MAX - LONGEST_GAP); row + 1 < table->count; row++) {
        uint64_t end = end_of(table, row);
        uint64_t next = begin_of(table, row + 1);

        if (begin_of(table, row) > instruction + INT8_MAX)
            break;
        if (end != 0 && end + size <= next && next - end <= LONGEST_GAP && reaches(instruction, end) && is_idle(end, next) &&
            is_better(instruction, end, best))
            best = end;
    }
    return best;
}

/* Return a gap between functions of Go, which are aligned and have no table. */
static uint64_t gap_of_go(uint64_t instruction, unsigned size)
{
    for (uint64_t next = (instruction + GO_ALIGNMENT) & ~(GO_ALIGNMENT - 1UL); next < instruction + INT8_MAX;
         next += GO_ALIGNMENT) {
        const uint8_t *before = (const uint8_t *)next;
        unsigned length = 0;

        while (length < GO_ALIGNMENT && before[-1 - (int)length] == 0xcc)
            length++;
        if (length >= size && reaches(instruction, next - length))
            return next - length;
    }
    return 0;
}

/* Return where `size` bytes are free that a short jump from an instruction reaches; 0 if there are none. */
uint64_t padding_near(uint64_t instruction, const struct map_query *text, unsigned size, uint64_t *image)
{
    const Elf64_Ehdr *header = image_of(text);
    const struct unwind_table *table = header != NULL ? table_of(header) : NULL;

    *image = (uint64_t)header;
    if (header == NULL)
        return 0;
    return table != NULL ? gap_in_table(table, instruction, size) : gap_of_go(instruction, size);
}
