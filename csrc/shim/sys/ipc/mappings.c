/* Which mapping holds an address, as /proc/self/maps says. */
#include "shim/sys/ipc/ipc.h"

/* PROCMAP_QUERY (Linux 6.11) names the mapping of an address without printing them all. */
#define MAP_QUERY_IOCTL 0xc0686611UL

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
    const char *permissions;

    parse_hexadecimal(&line, &query->start);
    line++;
    parse_hexadecimal(&line, &query->end);
    if (query->address < query->start || query->address >= query->end)
        return false;
    permissions = ++line;
    line += 5;
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
    query->vma_flags = (permissions[1] == 'w' ? MAPPING_WRITABLE : 0) | (permissions[3] == 's' ? MAPPING_SHARED : 0);
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

/* The mapping that holds an address; false if none does. Its path goes to `path` if there is room for it and the kernel is new
 * enough. */
bool mapping_find(uint64_t address, struct map_query *query, char *path, size_t room)
{
    long file = proc_open("self/maps");
    bool found;

    if (file < 0)
        return false;
    *query = (struct map_query){.size = sizeof *query, .address = address, .name_size = (uint32_t)room, .name = (uint64_t)path};
    found = NATIVE(ioctl, file, MAP_QUERY_IOCTL, query) == 0 || search_maps((int)file, query);
    NATIVE(close, file);
    return found;
}
