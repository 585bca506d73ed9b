/* Files of /proc about the emulated host as a whole. Under the CPU policy free, computing takes no time: the host's
 * processors have been idle since the boot, and no process waits for a processor. Under other policies, the server
 * reports how busy the processors were (rsg_server/processor/load.py). */
#include "shim/core/channel.h"
#include "shim/sys/procfs/procfs.h"

#define KIB 1024

/* Return the nanoseconds since the host was booted. */
static int64_t uptime_ns(const struct proc_page *page)
{
    return host_uptime_ns(page->thread);
}

static void put_seconds(struct proc_page *page, int64_t ns, const char *after)
{
    int64_t hundredths = ns / USER_TICK_NS;

    proc_put_number(page, "", hundredths / 100, hundredths % 100 < 10 ? ".0" : ".");
    proc_put_number(page, "", hundredths % 100, after);
}

/* Ask the server how busy the processors were, from this one on. If computing takes no time, return false, and all are
 * idle. */
static bool ask_cpu(const struct proc_page *page, int first, struct reply *reply)
{
    return page->thread->process->page->charge_least_ns != 0 && ASK(page->thread, reply, OP_HOST_CPU, first) == 0;
}

void proc_write_uptime(struct proc_page *page)
{
    struct reply reply;
    int64_t busy_ns = ask_cpu(page, 0, &reply) ? reply_number(&reply, HOST_CPU_BUSY) : 0;

    put_seconds(page, uptime_ns(page), " ");
    put_seconds(page, uptime_ns(page) * page->thread->process->host.cpus - busy_ns, "\n");
}

static int64_t host_figure(const struct proc_page *page, enum simunix_host_figure which)
{
    struct reply reply;

    ASK(page->thread, &reply, OP_HOST);
    return reply_number(&reply, which);
}

#define LOAD_ONE 2048 /* FIXED_1 of the kernel, which rounds to hundredths in this way */

static void put_load(struct proc_page *page, int64_t load)
{
    int64_t hundredths = (load + LOAD_ONE / 200) % LOAD_ONE * 100 / LOAD_ONE;

    proc_put_number(page, "", (load + LOAD_ONE / 200) / LOAD_ONE, hundredths < 10 ? ".0" : ".");
    proc_put_number(page, "", hundredths, " ");
}

void proc_write_loadavg(struct proc_page *page)
{
    struct reply reply;
    int64_t running = 1;

    if (!ask_cpu(page, 0, &reply)) {
        proc_put(page, "0.00 0.00 0.00 ");
    } else {
        running += reply_number(&reply, HOST_CPU_RUNNING);
        for (int i = 0; i < 3; i++)
            put_load(page, reply_number(&reply, HOST_CPU_LOADS + i));
    }
    proc_put_number(page, "", running, "/");
    proc_put_number(page, "", host_figure(page, HOST_THREADS), " ");
    proc_put_number(page, "", host_figure(page, HOST_LATEST_PID), "\n");
}

/* Write the times of a processor. All time that is not idle is shown as user time. */
static void put_times(struct proc_page *page, int64_t busy_ns, int64_t all_ns)
{
    proc_put_number(page, " ", busy_ns / USER_TICK_NS, " 0 0 ");
    proc_put_number(page, "", (all_ns - busy_ns) / USER_TICK_NS, " 0 0 0 0 0 0\n");
}

/* Write the lines of those processors that are in one answer of the server. */
static int64_t put_processors(struct proc_page *page, int first)
{
    int64_t busy_ns[SIMUNIX_CORES_TOLD] = {0};
    int cpus = page->thread->process->host.cpus;
    struct reply reply;
    int64_t running = 0;

    if (ask_cpu(page, first, &reply)) {
        running = reply_number(&reply, HOST_CPU_RUNNING);
        reply_bytes(&reply, HOST_CPU_CORES, busy_ns, sizeof busy_ns);
    }
    for (int cpu = first; cpu < cpus && cpu < first + SIMUNIX_CORES_TOLD; cpu++) {
        proc_put_number(page, "cpu", cpu, "");
        put_times(page, busy_ns[cpu - first], uptime_ns(page));
    }
    return running;
}

void proc_write_stat(struct proc_page *page)
{
    const struct simunix_clock_page *clock = page->thread->process->page;
    int cpus = page->thread->process->host.cpus;
    struct reply reply;
    int64_t running = 0;

    proc_put(page, "cpu ");
    put_times(page, ask_cpu(page, 0, &reply) ? reply_number(&reply, HOST_CPU_BUSY) : 0, uptime_ns(page) * cpus);
    for (int first = 0; first < cpus; first += SIMUNIX_CORES_TOLD)
        running = put_processors(page, first);
    proc_put_number(page, "intr 0\nctxt 0\nbtime ", ((int64_t)clock->now_ns + clock->realtime_ns - uptime_ns(page)) / SECOND_NS,
                    "\n");
    proc_put_number(page, "processes ", host_figure(page, HOST_BIRTHS), "\n");
    proc_put_number(page, "procs_running ", 1 + running, "\nprocs_blocked 0\n");
    proc_put(page, "softirq 0 0 0 0 0 0 0 0 0 0 0\n");
}

/* One half of the memory is free, as sysinfo(2) says here too. */
void proc_write_meminfo(struct proc_page *page)
{
    static const struct {
        const char *name;
        int share; /* bytes of memory; 0: none */
    } rows[] = {
        {"MemTotal:       ", 1}, {"MemFree:        ", 2}, {"MemAvailable:   ", 2}, {"Buffers:        ", 0},
        {"Cached:         ", 0}, {"SwapCached:     ", 0}, {"Active:         ", 0}, {"Inactive:       ", 0},
        {"SwapTotal:      ", 0}, {"SwapFree:       ", 0}, {"Shmem:          ", 0}, {"SReclaimable:   ", 0},
    };
    int64_t total = (int64_t)(page->thread->process->host.memory_bytes / KIB);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        proc_put_number(page, rows[i].name, rows[i].share == 0 ? 0 : total / rows[i].share, " kB\n");
    proc_put(page, "HugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB\n");
}

static void put_hex(struct proc_page *page, uint64_t number, int digits, const char *after)
{
    proc_put_hex(page, number, digits);
    proc_put(page, after);
}

/* RFC 4122, version 4. */
static void put_uuid(struct proc_page *page, uint64_t high, uint64_t low)
{
    put_hex(page, high >> 32, 8, "-");
    put_hex(page, high >> 16, 4, "-4");
    put_hex(page, high, 3, "-");
    put_hex(page, (low >> 48 & 0x3fff) | 0x8000, 4, "-");
    put_hex(page, low, 12, "\n");
}

void proc_write_uuid(struct proc_page *page)
{
    uint64_t high = random_next(page->thread->process);

    put_uuid(page, high, random_next(page->thread->process));
}

/* All processes of a host read one boot id. */
void proc_write_boot_id(struct proc_page *page)
{
    uint64_t high = random_mix((uint64_t)host_figure(page, HOST_SEED));

    put_uuid(page, high, random_mix(high));
}
