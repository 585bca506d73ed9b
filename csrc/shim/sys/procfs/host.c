/* What /proc says of the emulated host as a whole. Under the free CPU policy computing takes no time: its processors have been
 * idle since the boot, and no process waits for one. */
#include "shim/core/channel.h"
#include "shim/sys/procfs/procfs.h"

#define KIB 1024

/* Nanoseconds since the host was booted. */
static int64_t uptime_ns(const struct proc_page *page)
{
    const struct simunix_clock_page *clock = page->thread->process->page;

    return (int64_t)clock->now_ns + clock->monotonic_ns;
}

static void put_seconds(struct proc_page *page, int64_t ns, const char *after)
{
    int64_t hundredths = ns / USER_TICK_NS;

    proc_put_number(page, "", hundredths / 100, hundredths % 100 < 10 ? ".0" : ".");
    proc_put_number(page, "", hundredths % 100, after);
}

void proc_write_uptime(struct proc_page *page)
{
    put_seconds(page, uptime_ns(page), " ");
    put_seconds(page, uptime_ns(page) * page->thread->process->cpus, "\n");
}

static int64_t host_figure(const struct proc_page *page, enum simunix_host_figure which)
{
    struct reply reply;

    ASK(page->thread, &reply, OP_HOST);
    return reply_number(&reply, which);
}

void proc_write_loadavg(struct proc_page *page)
{
    proc_put_number(page, "0.00 0.00 0.00 1/", host_figure(page, HOST_THREADS), " ");
    proc_put_number(page, "", host_figure(page, HOST_LATEST_PID), "\n");
}

static void put_idle(struct proc_page *page, int64_t ns)
{
    proc_put_number(page, " 0 0 0 ", ns / USER_TICK_NS, " 0 0 0 0 0 0\n");
}

void proc_write_stat(struct proc_page *page)
{
    const struct simunix_clock_page *clock = page->thread->process->page;
    int cpus = page->thread->process->cpus;

    proc_put(page, "cpu ");
    put_idle(page, uptime_ns(page) * cpus);
    for (int cpu = 0; cpu < cpus; cpu++) {
        proc_put_number(page, "cpu", cpu, "");
        put_idle(page, uptime_ns(page));
    }
    proc_put_number(page, "intr 0\nctxt 0\nbtime ", (clock->realtime_ns - clock->monotonic_ns) / SECOND_NS, "\n");
    proc_put_number(page, "processes ", host_figure(page, HOST_BIRTHS), "\nprocs_running 1\nprocs_blocked 0\n");
    proc_put(page, "softirq 0 0 0 0 0 0 0 0 0 0 0\n");
}

/* One half of the memory is free, as sysinfo(2) says here too. */
void proc_write_meminfo(struct proc_page *page)
{
    static const struct {
        const char *name;
        int share; /* of the memory; 0: none */
    } rows[] = {
        {"MemTotal:       ", 1}, {"MemFree:        ", 2}, {"MemAvailable:   ", 2}, {"Buffers:        ", 0},
        {"Cached:         ", 0}, {"SwapCached:     ", 0}, {"Active:         ", 0}, {"Inactive:       ", 0},
        {"SwapTotal:      ", 0}, {"SwapFree:       ", 0}, {"Shmem:          ", 0}, {"SReclaimable:   ", 0},
    };
    int64_t total = (int64_t)(page->thread->process->memory_bytes / KIB);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        proc_put_number(page, rows[i].name, rows[i].share == 0 ? 0 : total / rows[i].share, " kB\n");
    proc_put(page, "HugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB\n");
}

void proc_put_hex(struct proc_page *page, uint64_t number, int digits)
{
    char text[17] = "";

    for (int i = 0; i < digits; i++)
        text[i] = "0123456789abcdef"[number >> 4 * (digits - 1 - i) & 15];
    proc_put(page, text);
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
