/* Files of /proc about a process's memory and work. In the kernel, the amount of resident memory depends on the load of
 * this computer. So the shim shows all private memory that a process may write as resident, and no mapped file. These
 * sizes depend only on the process itself, so they are equal in equal runs. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/pids/pids.h"
#include "shim/sys/process/process.h"
#include "shim/sys/procfs/procfs.h"

#define PAGE_KIB 4

static const char *skip_spaces(const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

static void put_kib(struct proc_page *page, const char *name, int64_t kib)
{
    char digits[24];
    long width;

    text_append_number(digits, digits + sizeof digits, kib);
    proc_put(page, name);
    proc_put(page, "\t");
    for (width = text_length(digits); width < 8; width++)
        proc_put(page, " ");
    proc_put(page, digits);
    proc_put(page, " kB\n");
}

enum shown { RESIDENT, NO_KIB, NO_COUNT, NO_QUEUE, PROCESSORS, PROCESSOR_LIST, NODES, NODE_LIST, IO_COUNT, KNOWN };

/* The lines of status, io, smaps and smaps_rollup that are changed. */
static const struct {
    const char *name;
    enum shown shown;
} changed[] = {
    {"State:", KNOWN},
    {"VmHWM:", RESIDENT},
    {"VmRSS:", RESIDENT},
    {"RssAnon:", RESIDENT},
    {"RssFile:", NO_KIB},
    {"RssShmem:", NO_KIB},
    {"VmPTE:", NO_KIB},
    {"VmSwap:", NO_KIB},
    {"Seccomp:", KNOWN},
    {"Seccomp_filters:", KNOWN},
    {"SigQ:", NO_QUEUE}, /* this line counts all processes of this user on this computer */
    {"Cpus_allowed:", PROCESSORS},
    {"Cpus_allowed_list:", PROCESSOR_LIST},
    {"Mems_allowed:", NODES},
    {"Mems_allowed_list:", NODE_LIST},
    {"voluntary_ctxt_switches:", NO_COUNT},
    {"nonvoluntary_ctxt_switches:", NO_COUNT},
    {"read_bytes:", IO_COUNT},
    {"write_bytes:", IO_COUNT},
    {"cancelled_write_bytes:", IO_COUNT},
    {"Rss:", NO_KIB},
    {"Pss:", NO_KIB},
    {"Pss_Dirty:", NO_KIB},
    {"Pss_Anon:", NO_KIB},
    {"Pss_File:", NO_KIB},
    {"Pss_Shmem:", NO_KIB},
    {"Shared_Clean:", NO_KIB},
    {"Shared_Dirty:", NO_KIB},
    {"Private_Clean:", NO_KIB},
    {"Private_Dirty:", NO_KIB},
    {"Referenced:", NO_KIB},
    {"Anonymous:", NO_KIB},
    {"KSM:", NO_KIB},
    {"LazyFree:", NO_KIB},
    {"AnonHugePages:", NO_KIB},
    {"FilePmdMapped:", NO_KIB},
    {"Swap:", NO_KIB},
    {"SwapPss:", NO_KIB},
};

/* Write that no signal is queued, and the limit of queued signals. */
static void put_queue(struct proc_page *page, const char *line)
{
    while (*line != '/' && *line != '\0')
        line++;
    proc_put(page, "0");
    proc_put(page, line);
    proc_put(page, "\n");
}

/* Write the bytes that the process has read from storages and written to them. */
static void put_io_count(struct proc_page *page, const char *name)
{
    int which = name[0] == 'r' ? 1 : name[0] == 'w' ? 2 : 3;
    struct reply reply;

    if (page->thread->process->storage.count == 0 ||
        ASK(page->thread, &reply, OP_STORAGE_COUNTS, proc_number_told(page->thread->process, proc_id_of(page->path))) != 0)
        proc_put(page, "0\n");
    else
        proc_put_number(page, "", reply_number(&reply, which), "\n");
}

static void put_changed(struct proc_page *page, const char *line)
{
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++) {
        const char *name = changed[i].name;

        if (!text_starts(line, name))
            continue;
        if (changed[i].shown == RESIDENT || changed[i].shown == NO_KIB) {
            put_kib(page, name, changed[i].shown == RESIDENT ? proc_resident_pages(page->path) * PAGE_KIB : 0);
            return;
        }
        proc_put(page, name);
        proc_put(page, name[0] >= 'a' && text_starts(name + text_length(name) - 6, "bytes:") ? " " : "\t");
        if (changed[i].shown == NO_COUNT)
            proc_put(page, "0\n");
        else if (changed[i].shown == KNOWN)
            proc_put_known(page, name, skip_spaces(line + text_length(name)));
        else if (changed[i].shown == NO_QUEUE)
            put_queue(page, line);
        else if (changed[i].shown == IO_COUNT)
            put_io_count(page, name);
        else if (changed[i].shown == NODES || changed[i].shown == NODE_LIST)
            proc_put_nodes(page, changed[i].shown == NODE_LIST, skip_spaces(line + text_length(name)));
        else
            proc_put_processors(page, changed[i].shown == PROCESSOR_LIST);
        return;
    }
    proc_put(page, line);
    proc_put(page, "\n");
}

/* The mapping that lines of smaps are about. */
struct mapping {
    bool is_private;
    int64_t kib;
};

/* Return whether a mapping's line in smaps is about private memory that the process may write. */
static bool begins_private(const char *line)
{
    const char *access = proc_field(line, 2);

    return access[0] != '\0' && access[1] == 'w' && access[3] == 'p' && access[4] == ' ';
}

/* For smaps: such memory counts as anonymous as a whole, and so does memory that the loader has relocated (gcore(1)
 * leaves out mappings without anonymous memory). */
static void put_of_mapping(struct proc_page *page, const char *line, struct mapping *mapping)
{
    static const char size[] = "Size:", anonymous[] = "Anonymous:";

    if (line[0] < 'A' || line[0] > 'Z')
        mapping->is_private = begins_private(line);
    else if (text_starts(line, size))
        mapping->kib = proc_number_at(skip_spaces(line + sizeof size - 1));
    if (text_starts(line, anonymous) && mapping->kib != 0 &&
        (mapping->is_private || proc_number_at(skip_spaces(line + sizeof anonymous - 1)) != 0))
        put_kib(page, anonymous, mapping->kib);
    else
        put_changed(page, line);
}

/* status, io, smaps, smaps_rollup */
void proc_write_lines(struct proc_page *page)
{
    struct lines lines;
    struct mapping mapping = {0};

    if (!lines_open(&lines, page->path))
        return;
    while (lines_next(&lines))
        put_of_mapping(page, lines.line, &mapping);
}

/* Write the file sched: its two lines of heading, and that no work was done. */
void proc_write_sched(struct proc_page *page)
{
    struct lines lines;
    int count = 0;

    if (!lines_open(&lines, page->path))
        return;
    while (lines_next(&lines))
        if (count++ < 2) {
            proc_put(page, lines.line);
            proc_put(page, "\n");
        }
    proc_put(page, "se.sum_exec_runtime : 0.000000\nnr_switches : 0\nnr_voluntary_switches : 0\n"
                   "nr_involuntary_switches : 0\nprio : 120\n");
}

void proc_write_schedstat(struct proc_page *page)
{
    proc_put(page, "0 0 0\n");
}

/* Write the score by which the process would be killed if memory is short, as on a host that has plenty of memory. */
void proc_write_oom_score(struct proc_page *page)
{
    proc_put(page, "666\n");
}
