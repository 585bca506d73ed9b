/* The approach of a `syscall`: the instructions that run straight into it, of which the first is long enough for a jump.
 *
 * The first of these instructions is replaced by a jump to a stub, which has a copy of all of them; the other
 * instructions and the `syscall` stay unchanged. So, if the function jumps to one of the unchanged instructions, it
 * goes on as before, and its call is trapped: the shim need not know the targets of the function's jumps. But the shim
 * must know where each instruction begins, since no instruction may be cut in two. So the instructions are decoded one
 * by one from the beginning of the function, which the table for unwinding gives (padding.c). */
#include "shim/core/memory.h"
#include "shim/entry/entry.h"

#define APPROACH_MAX 20 /* the most bytes of an approach that fit into a stub */
#define FUNCTION_MAX 65536

/* Find the approach of an instruction. The function is called guarded, since the unwinding table may be wrong. Returns false
 * if there is none. */
bool approach_find(uint64_t instruction, const struct map_query *text, struct approach *found)
{
    uint64_t begin = 0;
    uint64_t at = function_begin(instruction, text, &found->image);

    if (at == 0 || instruction - at > FUNCTION_MAX)
        return false;
    while (at < instruction) {
        struct instruction next = instruction_at((const uint8_t *)at);

        if (next.length == 0)
            return false;
        if (next.leads_elsewhere)
            begin = 0;
        else if (next.length >= LONG_JUMP_BYTES)
            begin = at;
        at += next.length;
    }
    found->begin = begin;
    found->end = instruction;
    return at == instruction && begin != 0 && instruction - begin <= APPROACH_MAX;
}

/* Copy the instructions, with displacements changed so that they mean the same. The copy lies within two gigabytes.
 * Returns its end. */
uint8_t *approach_copy(uint8_t *to, const struct approach *approach)
{
    uint64_t at = approach->begin;

    while (at < approach->end) {
        struct instruction next = instruction_at((const uint8_t *)at);
        int32_t displacement;

        memcpy(to, (const void *)at, next.length);
        if (next.displacement != 0) {
            memcpy(&displacement, to + next.displacement, sizeof displacement);
            displacement += (int32_t)(at - (uint64_t)to);
            memcpy(to + next.displacement, &displacement, sizeof displacement);
        }
        at += next.length;
        to += next.length;
    }
    return to;
}
