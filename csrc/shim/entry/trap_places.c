/* Which instructions trap, and how often: a table of all of them in the shared memory, in runs that ask for it
 * (`simunix run --count-calls`). Counting takes only real time: the event log of a run with counting equals that of a
 * run without.
 *
 * A place is a program, an offset in a mapped file, and a system call's number. Files have names from Linux
 * 6.11 on (PROCMAP_QUERY).
 */
#include "shim/core/memory.h"
#include "shim/entry/entry.h"
#include "shim/sys/ipc/ipc.h"

#define PATH_ROOM 1024
#define TABLE_BYTES (SIMUNIX_TRAP_PLACES * sizeof(struct simunix_trap_place))

_Static_assert(sizeof(struct simunix_trap_place) == 160, "the layout that the server reads");

static struct simunix_trap_place *const table = (void *)0x200000000;

/* Map the table of instructions at an address where nothing else is mapped: another place for other mappings would
 * change their alignment, and so the calls that allocators make. If there is no room, this process is not counted. */
void trap_places_map(struct process *process)
{
    int file = descriptor_number(process, process->descriptors.page_file);
    long result =
        NATIVE(mmap, table, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, SIMUNIX_SHARED_BYTES);

    if (result != (long)table)
        process->flags &= ~(uint32_t)HELLO_FLAG_COUNT_TRAPS;
}

/* Copy the end of a text, as far as there is room. */
static void keep_end(char *to, size_t room, const char *text)
{
    size_t length = text_length(text);

    memset(to, 0, room);
    if (length >= room)
        text += length - (room - 1);
    memcpy(to, text, length < room ? length : room - 1);
}

static void name_program(const struct process *process, struct simunix_trap_place *place)
{
    bool has_folder = process->ids.proc > 0;
    char path[PATH_ROOM] = "?";
    const char *name = path;

    NATIVE(readlinkat, has_folder ? process->ids.proc : AT_FDCWD, has_folder ? "self/exe" : "/proc/self/exe", path,
           PATH_ROOM - 1);
    for (const char *at = path; *at != '\0'; at++)
        if (*at == '/')
            name = at + 1;
    keep_end(place->program, sizeof place->program, name);
}

static void name_mapping(uint64_t address, struct simunix_trap_place *place)
{
    char path[PATH_ROOM] = "";
    struct map_query query;

    if (!mapping_find(address, &query, path, sizeof path))
        return;
    path[PATH_ROOM - 1] = '\0';
    place->inode = query.inode;
    place->offset = address - query.start + query.offset;
    keep_end(place->file, sizeof place->file, path);
}

/* Return whether two places are the same: all fields but the count must be equal. */
static bool is_same(const struct simunix_trap_place *a, const struct simunix_trap_place *b)
{
    return memcmp(&a->inode, &b->inode, sizeof *a - offsetof(struct simunix_trap_place, inode)) == 0;
}

static uint64_t hash(const struct simunix_trap_place *place)
{
    const uint64_t *words = &place->inode;
    uint64_t result = 0;

    for (size_t i = 0; i < (sizeof *place - offsetof(struct simunix_trap_place, inode)) / sizeof *words; i++)
        result = random_mix(result ^ words[i]);
    return result;
}

/* Count a trapped call of the instruction at an address. If the table is full, a new instruction is not counted. */
void trap_places_count(const struct call *call, uint64_t address)
{
    struct simunix_trap_place place = {.number = (int32_t)call->number};
    uint64_t at;

    name_program(call->thread->process, &place);
    name_mapping(address, &place);
    at = hash(&place);
    for (unsigned tried = 0; tried < SIMUNIX_TRAP_PLACES; tried++, at++) {
        struct simunix_trap_place *found = &table[at % SIMUNIX_TRAP_PLACES];

        if (found->count == 0) {
            *found = place;
        } else if (!is_same(found, &place)) {
            continue;
        }
        found->count++;
        return;
    }
}
