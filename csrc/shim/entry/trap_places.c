/* Which instructions trap, and how often: a table of all of them in the shared memory, in runs that ask for it
 * (`simunix run --count-calls`). Counting takes real time only: a run that counts has the event log of one that does not.
 *
 * A place is a program, an offset in a mapped file, and a system call's number. The kernel names the mapping (PROCMAP_QUERY,
 * Linux 6.11); on an older kernel all places of a program are one for each system call.
 */
#include "shim/core/memory.h"
#include "shim/entry/entry.h"

struct map_query {
    uint64_t size, flags, address;
    uint64_t start, end, vma_flags, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
};
#define MAP_QUERY_IOCTL 0xc0686611UL
#define PATH_ROOM 1024

_Static_assert(sizeof(struct map_query) == 104, "linux/fs.h: struct procmap_query");
_Static_assert(sizeof(struct simunix_trap_place) == 160, "the layout that the server reads");

/* How much of the server's shared memory this process maps: the table is its end, where there is one. */
size_t trap_places_end(const struct process *process)
{
    size_t table = SIMUNIX_TRAP_PLACES * sizeof(struct simunix_trap_place);

    return SIMUNIX_SHARED_BYTES + ((process->flags & HELLO_FLAG_COUNT_TRAPS) != 0 ? table : 0);
}

/* The end of a text, as much as there is room for. */
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
    bool has_folder = process->proc > 0;
    char path[PATH_ROOM] = "?";
    const char *name = path;

    NATIVE(readlinkat, has_folder ? process->proc : AT_FDCWD, has_folder ? "self/exe" : "/proc/self/exe", path, PATH_ROOM - 1);
    for (const char *at = path; *at != '\0'; at++)
        if (*at == '/')
            name = at + 1;
    keep_end(place->program, sizeof place->program, name);
}

static void name_mapping(uint64_t address, struct simunix_trap_place *place)
{
    char path[PATH_ROOM] = "";
    struct map_query query = {.size = sizeof query, .address = address, .name_size = PATH_ROOM, .name = (uint64_t)path};
    long maps = proc_open("self/maps");

    if (maps >= 0 && NATIVE(ioctl, maps, MAP_QUERY_IOCTL, &query) == 0) {
        place->inode = query.inode;
        place->offset = address - query.start + query.offset;
        path[PATH_ROOM - 1] = '\0';
        keep_end(place->file, sizeof place->file, path);
    }
    if (maps >= 0)
        NATIVE(close, maps);
}

/* What tells one place from another is all but its count. */
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

/* Count a trapped call of the instruction at an address. What finds the table full is left out. */
void trap_places_count(const struct call *call, uint64_t address)
{
    struct process *process = call->thread->process;
    struct simunix_trap_place *table = (void *)((uint8_t *)process->page + SIMUNIX_SHARED_BYTES);
    struct simunix_trap_place place = {.number = (int32_t)call->number};
    uint64_t at;

    name_program(process, &place);
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
