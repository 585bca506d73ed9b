/* What a futex word is to the server: an address of this process, or a place in memory that processes share. */
#include "shim/sys/ipc/ipc.h"

static bool in_shared_memory(const struct process *process, uint64_t address)
{
    for (int i = 0; i < process->shared_count; i++)
        if (address >= process->shared[i].start && address < process->shared[i].end)
            return true;
    return process->shared_overflow;
}

/* PROCMAP_QUERY (Linux 6.11) names the mapping of an address without printing them all. */
struct map_query {
    uint64_t size, flags, address;
    uint64_t start, end, vma_flags, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
};
#define MAP_QUERY_IOCTL 0xc0686611UL
#define MAP_QUERY_SHARED 0x08

_Static_assert(sizeof(struct map_query) == 104, "linux/fs.h: struct procmap_query");

static long parse_hexadecimal(const char **text, uint64_t *number)
{
    const char *start = *text;

    *number = 0;
    for (;; (*text)++) {
        char c = **text;

        if (c >= '0' && c <= '9')
            *number = *number << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *number = *number << 4 | (uint64_t)(c - 'a' + 10);
        else
            return *text - start;
    }
}

/* One line of /proc/self/maps: start-end perms offset major:minor inode. True if it holds the address. */
static bool parse_map_line(const char *line, struct map_query *query)
{
    uint64_t part[5] = {0};
    char permission;

    parse_hexadecimal(&line, &query->start);
    line++;
    parse_hexadecimal(&line, &query->end);
    if (query->address < query->start || query->address >= query->end)
        return false;
    permission = line[4];
    line += 6;
    parse_hexadecimal(&line, &query->offset);
    line++;
    parse_hexadecimal(&line, &part[0]);
    line++;
    parse_hexadecimal(&line, &part[1]);
    line++;
    for (query->inode = 0; *line >= '0' && *line <= '9'; line++)
        query->inode = query->inode * 10 + (uint64_t)(*line - '0');
    query->major = (uint32_t)part[0];
    query->minor = (uint32_t)part[1];
    query->vma_flags = permission == 's' ? MAP_QUERY_SHARED : 0;
    return true;
}

/* For kernels without the query. Lines are at least 49 characters; only their start is kept. */
static bool search_maps(int file, struct map_query *query)
{
    char line[128];
    char block[1024];
    size_t length = 0;
    long size;

    while ((size = NATIVE(read, file, block, sizeof block)) > 0)
        for (long i = 0; i < size; i++) {
            if (block[i] != '\n') {
                if (length < sizeof line - 1)
                    line[length++] = block[i];
                continue;
            }
            line[length] = '\0';
            length = 0;
            if (parse_map_line(line, query))
                return true;
        }
    return false;
}

static bool find_mapping(uint64_t address, struct map_query *query)
{
    long file = proc_open("self/maps");
    bool found;

    if (file < 0)
        return false;
    *query = (struct map_query){.size = sizeof *query, .address = address};
    found = NATIVE(ioctl, file, MAP_QUERY_IOCTL, query) == 0 || search_maps((int)file, query);
    NATIVE(close, file);
    return found;
}

#define SPACE_OF_MEMORIES (1L << 62) /* more than any device and inode give, as their devices have small numbers */

/* (0, address) for a word that only this process sees; for shared memory something that all who map it agree on. So it is for
 * memory that processes share as a whole (clone(2), CLONE_VM). */
void futex_key(struct process *process, uint64_t address, bool is_private, uint64_t key[2])
{
    struct map_query query;

    key[0] = process->memory == 0 ? 0 : (uint64_t)(SPACE_OF_MEMORIES + process->memory);
    key[1] = address;
    if (is_private || !in_shared_memory(process, address) || !find_mapping(address, &query) ||
        (query.vma_flags & MAP_QUERY_SHARED) == 0)
        return;
    key[0] = (((uint64_t)query.major << 52 | (uint64_t)query.minor << 44 | 1UL << 43) ^ query.inode) & INT64_MAX;
    key[1] = address - query.start + query.offset;
}
