/* Writes sets of processors and of NUMA nodes in files of processes, as the kernel prints them. */
#include "shim/core/memory.h"
#include "shim/sys/numa/numa.h"
#include "shim/sys/process/process.h"
#include "shim/sys/procfs/procfs.h"

#define CPU_BYTES 128
#define NODE_WORDS 32 /* a kernel for 1024 nodes prints them all, whatever a computer has */

/* Write a set as words of 32 bits, the highest first; the first word has as many digits as `bits` need. */
static void put_set(struct proc_page *page, const uint32_t *words, int bits)
{
    int digits = (bits - 1) % 32 / 4 + 1;

    for (int i = (bits - 1) / 32; i >= 0; i--) {
        proc_put_hex(page, words[i], digits);
        proc_put(page, i > 0 ? "," : "\n");
        digits = 8;
    }
}

void proc_put_list(struct proc_page *page, const uint8_t *set, int bits, const char *after)
{
    const char *before = "";

    for (int bit = 0; bit < bits; bit++) {
        int first = bit;

        if ((set[bit / 8] >> bit % 8 & 1) == 0)
            continue;
        while (bit + 1 < bits && (set[(bit + 1) / 8] >> (bit + 1) % 8 & 1) != 0)
            bit++;
        proc_put_number(page, before, first, "");
        if (bit > first)
            proc_put_number(page, "-", bit, "");
        before = ",";
    }
    proc_put(page, after);
}

/* Write the processors that a thread may use, as sched_getaffinity(2) returns them. */
void proc_put_processors(struct proc_page *page, bool as_list)
{
    union {
        uint8_t bytes[CPU_BYTES];
        uint32_t words[CPU_BYTES / 4];
    } set = {{0}};
    struct call call = {.thread = page->thread, .a = {proc_id_of(page->path), sizeof set, (long)&set}};
    int cpus = page->thread->process->host.cpus;

    if (sys_sched_getaffinity(&call) < 0)
        set.bytes[0] = 1;
    if (as_list)
        proc_put_list(page, set.bytes, cpus, "\n");
    else
        put_set(page, set.words, cpus);
}

/* Write all NUMA nodes of the host; if the host shows this computer's nodes, the kernel's text. */
void proc_put_nodes(struct proc_page *page, bool as_list, const char *of_computer)
{
    uint32_t words[NODE_WORDS] = {numa_every_node(page->thread)};

    if (words[0] == 0) {
        proc_put(page, of_computer);
        proc_put(page, "\n");
    } else if (as_list) {
        proc_put_list(page, (const uint8_t *)words, NUMA_NODES_MOST, "\n");
    } else {
        put_set(page, words, 32 * NODE_WORDS);
    }
}
