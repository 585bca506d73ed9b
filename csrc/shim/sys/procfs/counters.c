/* Counters of the real kernel that emulated hosts do not have: the files show the values of a host that has done
 * nothing yet. Names and formats are those of proc(5). */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/pids/pids.h"
#include "shim/sys/procfs/procfs.h"

static const char pressure[] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
                               "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";

static const char vmstat[] = "nr_free_pages 0\nnr_inactive_anon 0\nnr_active_anon 0\nnr_inactive_file 0\nnr_active_file 0\n"
                             "nr_dirty 0\nnr_writeback 0\nnr_slab_reclaimable 0\nnr_slab_unreclaimable 0\nnr_mapped 0\n"
                             "nr_file_pages 0\nnr_shmem 0\nnr_page_table_pages 0\nnr_kernel_stack 0\npgpgin 0\npgpgout 0\n"
                             "pswpin 0\npswpout 0\npgfault 0\npgmajfault 0\npgfree 0\npgsteal_kswapd 0\npgsteal_direct 0\n"
                             "pgscan_kswapd 0\npgscan_direct 0\nallocstall_normal 0\noom_kill 0\n";

/* The text of a kernel that uses only version 2 of cgroups: no controller has a hierarchy of its own. */
static const char cgroups[] = "#subsys_name\thierarchy\tnum_cgroups\tenabled\n"
                              "cpuset\t0\t1\t1\ncpu\t0\t1\t1\ncpuacct\t0\t1\t1\nblkio\t0\t1\t1\nmemory\t0\t1\t1\n"
                              "devices\t0\t1\t1\nfreezer\t0\t1\t1\npids\t0\t1\t1\n";

static const struct {
    const char *path, *text;
} fixed[] = {
    {"cgroups", cgroups},
    {"vmstat", vmstat},
    {"pressure/cpu", pressure},
    {"pressure/memory", pressure},
    {"pressure/io", pressure},
    {"schedstat", "version 15\ntimestamp 0\n"},
    {"diskstats", ""},
    {"buddyinfo", ""},
    {"zoneinfo", ""},
    {"softirqs", "                    CPU0\n"},
    {"interrupts", "           CPU0\n"},
    {"partitions", "major minor  #blocks  name\n\n"},
    {"swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"},
    {"sys/fs/file-nr", "1024\t0\t1048576\n"},
    {"sys/fs/inode-nr", "1024\t0\n"},
    {"sys/fs/inode-state", "1024\t0\t0\t0\t0\t0\t0\n"},
    {"sys/fs/dentry-state", "1024\t0\t45\t0\t0\t0\n"},
};

/* Return the text of a file with fixed counters, by its path below /proc; NULL for any other file. */
const char *proc_fixed_text(const char *path)
{
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (text_equal(path, fixed[i].path))
            return fixed[i].text;
    return NULL;
}

void proc_write_fixed(struct proc_page *page)
{
    proc_put(page, proc_fixed_text(page->path + sizeof "/proc/" - 1));
}

/* Return whether a file may be one of these, by the last part of its path. */
bool proc_may_be_fixed(const char *name)
{
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (text_equal(name, proc_last_part(fixed[i].path)))
            return true;
    return false;
}

/* Write the path of the process's cgroup (rsg_server/cgroups/). */
__attribute__((cold)) static void put_group(struct proc_page *page)
{
    char path[PROC_PATH_ROOM * 4];
    size_t size = 0;
    struct reply reply;

    if (page->thread->process->cgroups.device != 0 &&
        ASK(page->thread, &reply, OP_CGROUP_OF, proc_number_told(page->thread->process, proc_id_of(page->path))) == 0)
        size = reply_bytes(&reply, 1, path, sizeof path - 1);
    path[size] = '\0';
    proc_put(page, size == 0 ? "/" : path);
    proc_put(page, "\n");
}

void proc_write_cgroup(struct proc_page *page)
{
    proc_put(page, "0::");
    put_group(page);
}

void proc_write_cpuset(struct proc_page *page)
{
    put_group(page);
}

/* Return whether this is, as mountinfo writes it, the device of the host's cgroups, which programs may mount where they
 * want. */
bool proc_is_of_cgroups(const struct proc_page *page, const char *wanted)
{
    uint64_t device = page->thread->process->cgroups.device;
    char text[24];
    char *end = text + sizeof text;

    text_append_number(text_append(text_append_number(text, end, device >> 8 & 0xfff), end, ":"), end,
                       (device & 0xff) | (device >> 12 & 0xfff00));
    return device != 0 && text_equal(text, wanted);
}
