/* Gives a program fixed addresses if the kernel has given it random ones, because it gains privileges (personality(2),
 * "execve(2) clears ADDR_NO_RANDOMIZE"). Random addresses would make runs differ: glibc names temporary files by the
 * address of a variable on the stack, and the number of calls by which an allocator gets aligned memory depends on the
 * addresses that it gets.
 *
 * Before the program's first instruction the shim
 *   - takes all address space above TOP, so that whatever the program maps lies below;
 *   - makes a stack below TOP, and copies onto it what the kernel has put onto the first one. The first stack stays,
 *   since the kernel reads /proc/PID/cmdline and /proc/PID/environ there;
 *   - keeps the program's break itself (csrc/shim/sys/file/mmap.c: sys_brk).
 * The program's own file, its loader and the vDSO stay where they are.
 */
#include "shim/core/memory.h"
#include "shim/entry/entry.h"

#include <linux/auxvec.h>
#include <linux/personality.h>
#include <linux/resource.h>

#define PAGE 4096UL
#define PERSONALITY_ASKED 0xffffffff
#define TOP 0x6f0000000000UL   /* below all addresses that the kernel chooses: at most 16 TiB below the end of all */
#define BREAK 0x600000000000UL /* far above the program, and far below the mappings that it makes */
#define STACK_LEAST (1UL << 20)
#define STACK_MOST (64UL << 20)
#define GAP (1UL << 20)       /* the gap between the stack and the mapping below it, as on Linux (stack_guard_gap) */
#define AUXILIARY_BYTES 256UL /* for the data of the auxiliary vector besides strings: 16 random bytes, two short names */
#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Return whether the program has random addresses, since its exec has cleared ADDR_NO_RANDOMIZE (personality(2)). The
 * function also asks for fixed addresses again, for the programs that this program will exec. */
bool addresses_have_chance(void)
{
    long persona = NATIVE(personality, PERSONALITY_ASKED);

    NATIVE(personality, persona | ADDR_NO_RANDOMIZE);
    return (persona & ADDR_NO_RANDOMIZE) == 0;
}

static uint64_t soft_limit(int which)
{
    struct rlimit64 limit = {0, 0};

    NATIVE(prlimit64, 0, which, NULL, &limit);
    return limit.rlim_cur;
}

static uint64_t stack_bytes(void)
{
    uint64_t limit = soft_limit(RLIMIT_STACK);

    if (limit > STACK_MOST)
        return STACK_MOST;
    return limit < STACK_LEAST ? STACK_LEAST : limit & -PAGE;
}

/* The content of a stack when a program begins: strings at the top, and below the strings the words that point to them. */
struct contents {
    uint64_t *words; /* the number of arguments, the arguments, 0, the environment, 0, the auxiliary vector */
    size_t count;
    uint64_t *auxiliary; /* within the words */
    uint64_t strings;
    uint64_t strings_end;
};

static struct contents contents_of(uint64_t *stack)
{
    struct contents found = {.words = stack};
    uint64_t *at = stack + 1 + stack[0] + 1;

    while (*at++ != 0)
        ;
    found.auxiliary = at;
    found.strings = stack[1]; /* the kernel gives every program at least one argument */
    for (; at[0] != AT_NULL; at += 2)
        if (at[0] == AT_EXECFN) /* the last string */
            found.strings_end = at[1] + text_length((const char *)at[1]) + 1;
    found.count = (size_t)(at + 2 - stack);
    return found;
}

/* Copy those entries of the auxiliary vector that point to something else than the strings to below `to`. */
static uint64_t copy_auxiliary(const struct contents *from, uint64_t *auxiliary, uint64_t to)
{
    for (const uint64_t *at = from->auxiliary; at[0] != AT_NULL; at += 2, auxiliary += 2) {
        bool is_text = at[0] == AT_PLATFORM || at[0] == AT_BASE_PLATFORM;
        size_t size = is_text ? text_length((const char *)at[1]) + 1 : 16;

        if (!is_text && at[0] != AT_RANDOM)
            continue;
        to = (to - size) & -16UL;
        auxiliary[1] = to;
        memcpy((void *)to, (const void *)at[1], size);
    }
    return to;
}

/* Map the highest free address space in pieces, the largest first. The mapped space is never touched, and costs no memory.
 * Neighbouring pieces become one mapping of the kernel for each hole. */
static void take_high(void)
{
    for (uint64_t size = 1UL << 46; size >= PAGE;) {
        long at = NATIVE(mmap, NULL, size, PROT_NONE, RESERVED, -1, 0);

        if (at < 0 || (uint64_t)at < TOP) {
            if (at >= 0)
                NATIVE(munmap, at, size);
            size /= 2;
        }
    }
}

/* Map the address space, and below it a stack with room for the contents of this one. Returns false if there is no
 * room, for example because of a limit (ulimit -v). */
bool addresses_take(uint64_t *stack)
{
    struct contents contents = contents_of(stack);
    uint64_t copied = contents.strings_end - contents.strings + contents.count * sizeof *stack;
    uint64_t size = stack_bytes() + ((copied + PAGE - 1) & -PAGE);
    long made;

    if (soft_limit(RLIMIT_AS) != RLIM64_INFINITY)
        return false;
    take_high();
    made = NATIVE(mmap, TOP - size, size, PROT_READ | PROT_WRITE, RESERVED | MAP_STACK | MAP_FIXED_NOREPLACE, -1, 0);
    NATIVE(mmap, TOP - size - GAP, GAP, PROT_NONE, RESERVED | MAP_FIXED_NOREPLACE, -1, 0);
    NATIVE(madvise, TOP - size, size, MADV_NOHUGEPAGE); /* a stack that the kernel has made has no guard gap mapped */
    return made >= 0;
}

/* Copy the contents of the kernel's stack onto the new one. Returns the beginning of the copy. */
uint64_t *addresses_move_stack(uint64_t *stack)
{
    struct contents from = contents_of(stack);
    uint64_t size = from.strings_end - from.strings;
    uint64_t strings = (TOP - sizeof *stack - size) & -16UL;
    uint64_t *to = (uint64_t *)((strings - AUXILIARY_BYTES - from.count * sizeof *stack) & -16UL);

    memcpy((void *)strings, (const void *)from.strings, size);
    memcpy(to, from.words, from.count * sizeof *to);
    for (size_t i = 1; i < from.count; i++)
        if (to[i] >= from.strings && to[i] < from.strings_end)
            to[i] += strings - from.strings;
    copy_auxiliary(&from, to + (from.auxiliary - from.words), strings);
    return to;
}

/* From now on, the shim keeps the program's break. */
void addresses_keep_break(struct process *process)
{
    process->mappings.break_start = process->mappings.break_end = BREAK;
}
