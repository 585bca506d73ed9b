/* Finds out which mapping contains an address, as /proc/self/maps shows it. */
#include "shim/sys/ipc/ipc.h"

/* PROCMAP_QUERY (Linux 6.11) describes the mapping of an address without printing all mappings. */
#define MAP_QUERY_IOCTL 0xc0686611UL

_Static_assert(sizeof(struct map_query) == 104, "linux/fs.h: struct procmap_query");

static uint64_t take_hexadecimal(const char **text)
{
    uint64_t number = 0;

    for (;; (*text)++) {
        char c = **text;

        if (c >= '0' && c <= '9')
            number = number << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            number = number << 4 | (uint64_t)(c - 'a' + 10);
        else
            return number;
    }
}

/* Parse one line of /proc/self/maps: start-end perms offset major:minor inode path. Returns the path, which is empty if
 * there is none. */
static const char *parse_map_line(const char *line, struct map_query *mapping)
{
    const char *permissions;

    mapping->start = take_hexadecimal(&line);
    line++;
    mapping->end = take_hexadecimal(&line);
    permissions = ++line;
    mapping->vma_flags = (permissions[1] == 'w' ? MAPPING_WRITABLE : 0) | (permissions[3] == 's' ? MAPPING_SHARED : 0);
    line += 5;
    mapping->offset = take_hexadecimal(&line);
    line++;
    mapping->major = (uint32_t)take_hexadecimal(&line);
    line++;
    mapping->minor = (uint32_t)take_hexadecimal(&line);
    line++;
    for (mapping->inode = 0; *line >= '0' && *line <= '9'; line++)
        mapping->inode = mapping->inode * 10 + (uint64_t)(*line - '0');
    while (*line == ' ')
        line++;
    return line;
}

/* Call `sees` for every mapping of this process, by address, until it returns true. Returns false if it never does. A
 * line of more than 511 characters ends in the middle of its path. */
bool mappings_walk(bool (*sees)(void *data, const struct map_query *mapping, const char *path), void *data)
{
    long file = proc_open("self/maps");
    struct map_query mapping = {0};
    char line[512], block[1024];
    size_t length = 0;
    bool seen = false;
    long size;

    while (file >= 0 && !seen && (size = NATIVE(read, file, block, sizeof block)) > 0)
        for (long i = 0; i < size && !seen; i++) {
            if (block[i] != '\n') {
                if (length < sizeof line - 1)
                    line[length++] = block[i];
                continue;
            }
            line[length] = '\0';
            length = 0;
            seen = sees(data, &mapping, parse_map_line(line, &mapping));
        }
    if (file >= 0)
        NATIVE(close, file);
    return seen;
}

static bool holds_address(void *data, const struct map_query *mapping, const char *path)
{
    struct map_query *query = data;

    (void)path;
    if (query->address < mapping->start || query->address >= mapping->end)
        return false;
    query->start = mapping->start;
    query->end = mapping->end;
    query->offset = mapping->offset;
    query->inode = mapping->inode;
    query->major = mapping->major;
    query->minor = mapping->minor;
    query->vma_flags = mapping->vma_flags;
    return true;
}

/* Find the mapping that contains an address. Returns false if none does. `path` gets its path if there is room and the
 * kernel is new enough. */
bool mapping_find(uint64_t address, struct map_query *query, char *path, size_t room)
{
    long file = proc_open("self/maps");
    bool found;

    if (file < 0)
        return false;
    *query = (struct map_query){.size = sizeof *query, .address = address, .name_size = (uint32_t)room, .name = (uint64_t)path};
    found = NATIVE(ioctl, file, MAP_QUERY_IOCTL, query) == 0;
    NATIVE(close, file);
    return found || mappings_walk(holds_address, query);
}
