/* The approach of a `syscall`: the instructions that run straight into it, of which the first is long enough for a jump.
 *
 * The first of them becomes a jump to a stub, which has a copy of all of them; the others and the `syscall` stay as they are.
 * So a jump of the function to one of these finds what it expects, and its call is trapped as before: where the function jumps
 * to need not be known. Only where each instruction begins must be, since a jump may lead to the second half of none: they are
 * read one by one from the beginning of the function, of which the table for unwinding tells (padding.c).
 */
#include "shim/core/memory.h"
#include "shim/entry/entry.h"

#define APPROACH_MAX 20 /* bytes for which a stub has room */
#define FUNCTION_MAX 65536

/* Find the approach of an instruction. Called guarded, since what the unwinding table says may be wrong. Returns false
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
