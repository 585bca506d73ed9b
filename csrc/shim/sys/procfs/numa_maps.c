/* /proc/PID/numa_maps: the mappings of a process with their policies and the NUMA nodes of their pages. As elsewhere in /proc,
 * all private memory that the process may write counts as touched, and no file that it maps. */
#include "shim/core/memory.h"
#include "shim/sys/numa/numa.h"
#include "shim/sys/procfs/procfs.h"

/* A line of maps: START-END PERMISSIONS OFFSET DEVICE INODE NAME. */
struct mapping {
    uint64_t start, end;
    bool is_private; /* and writable */
    const char *name;
};

static uint64_t hexadecimal(const char **text)
{
    uint64_t number = 0;

    for (;; (*text)++) {
        char c = **text;

        if (c >= '0' && c <= '9')
            number = 16 * number + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            number = 16 * number + (uint64_t)(c - 'a' + 10);
        else
            return number;
    }
}

static struct mapping mapping_of(const char *line)
{
    struct mapping mapping;

    mapping.start = hexadecimal(&line);
    line++;
    mapping.end = hexadecimal(&line);
    mapping.is_private = text_starts(line, " ") && line[2] == 'w' && line[4] == 'p';
    for (int field = 0; field < 5; field++) {
        while (*line == ' ')
            line++;
        while (field < 4 && *line != ' ' && *line != '\0')
            line++;
    }
    mapping.name = line;
    return mapping;
}

static void put_policy(struct proc_page *page, const struct memory_policy *policy)
{
    static const char *const names[MODES] = {
        "default", "prefer", "bind", "interleave", "local", "prefer (many)", "weighted interleave",
    };
    uint32_t mode = policy->mode & ~MODE_FLAGS;

    proc_put(page, " ");
    proc_put(page, mode < MODES ? names[mode] : "default");
    if ((policy->mode & STATIC_NODES) != 0)
        proc_put(page, "=static");
    if ((policy->mode & RELATIVE_NODES) != 0)
        proc_put(page, "=relative");
    if (policy->nodes != 0) {
        proc_put(page, ":");
        proc_put_list(page, (const uint8_t *)&policy->nodes, NUMA_NODES_MOST, "");
    }
}

static void put_name(struct proc_page *page, const char *name)
{
    if (text_equal(name, "[heap]")) {
        proc_put(page, " heap");
    } else if (text_equal(name, "[stack]")) {
        proc_put(page, " stack");
    } else if (name[0] == '/') {
        proc_put(page, " file=");
        proc_put(page, name);
    }
}

static bool is_spread(const struct memory_policy *policy)
{
    uint32_t mode = policy->mode & ~MODE_FLAGS;

    return mode == MODE_INTERLEAVE || mode == MODE_WEIGHTED_INTERLEAVE;
}

/* Count how many pages of a mapping are at which node; page by page if neighbours may be at different ones. */
static void count_pages(struct proc_page *page, const struct mapping *mapping, const struct memory_ranges *ranges,
                        const struct numa_thread *known, int64_t counts[NUMA_NODES_MOST])
{
    uint64_t step = ranges != NULL || is_spread(&known->policy) ? NUMA_PAGE_BYTES : mapping->end - mapping->start;

    for (uint64_t address = mapping->start; address < mapping->end; address += step) {
        const struct memory_policy *policy = memory_range_policy(ranges, address);

        counts[numa_node_by(page->thread, policy != NULL ? policy : &known->policy, address, known->cpu)] +=
            (int64_t)(step / NUMA_PAGE_BYTES);
    }
}

static void put_pages(struct proc_page *page, const struct mapping *mapping, const struct memory_ranges *ranges,
                      const struct numa_thread *known)
{
    int64_t counts[NUMA_NODES_MOST] = {0};
    int64_t pages = (int64_t)((mapping->end - mapping->start) / NUMA_PAGE_BYTES);

    count_pages(page, mapping, ranges, known, counts);
    proc_put_number(page, " anon=", pages, "");
    proc_put_number(page, " dirty=", pages, " active=0");
    for (int node = 0; node < NUMA_NODES_MOST; node++)
        if (counts[node] != 0) {
            proc_put_number(page, " N", node, "");
            proc_put_number(page, "=", counts[node], "");
        }
    proc_put(page, " kernelpagesize_kB=4");
}

static void put_mapping(struct proc_page *page, const struct mapping *mapping, const struct memory_ranges *ranges,
                        const struct numa_thread *known)
{
    const struct memory_policy *policy = ranges != NULL ? memory_range_find(&ranges->policies, mapping->start) : NULL;
    int digits = 8;

    while (digits < 16 && mapping->start >> 4 * digits != 0)
        digits++;
    proc_put_hex(page, mapping->start, digits);
    put_policy(page, policy != NULL ? policy : &known->policy);
    put_name(page, mapping->name);
    if (mapping->is_private)
        put_pages(page, mapping, ranges, known);
    proc_put(page, "\n");
}

static void put_as_it_is(struct proc_page *page)
{
    struct lines lines;

    if (!lines_open(&lines, page->path))
        return;
    while (lines_next(&lines)) {
        proc_put(page, lines.line);
        proc_put(page, "\n");
    }
}

/* The shim knows the policies of ranges only for the reading process itself; for other processes, it uses the policy of
 * the thread. */
void proc_write_numa_maps(struct proc_page *page)
{
    int id = proc_id_of(page->path);
    bool is_own = id == page->thread->process->ids.pid || id == page->thread->ids.tid;
    struct numa_thread known;
    struct lines lines;
    char maps[PROC_PATH_ROOM];

    if (numa_nodes(page->thread) == 0 || numa_of_thread(page->thread, id, &known) != 0) {
        put_as_it_is(page);
        return;
    }
    proc_beside(page->path, "maps", maps, sizeof maps);
    if (!lines_open(&lines, maps))
        return;
    while (lines_next(&lines)) {
        struct mapping mapping = mapping_of(lines.line);

        if (!text_equal(mapping.name, "[vsyscall]"))
            put_mapping(page, &mapping, is_own ? page->thread->process->numa.bound : NULL, &known);
    }
}
