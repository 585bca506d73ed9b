/* Files of /proc that show the time, or figures of the real computer. When a program opens such a file, the shim writes
 * the text of the emulated host into an anonymous file, and again when the reader goes back to the beginning (top,
 * vmstat). A file is recognised by the path that the kernel has for the open file, by whatever links, folders and roots
 * the program has reached it. */
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/procfs/procfs.h"

#define BEGINNING 0 /* SEEK_SET */

static const char mark[] = "simunix:"; /* the beginning of the names of the anonymous files */

static const struct own_file own_files[] = {
    {"uptime", proc_write_uptime},
    {"loadavg", proc_write_loadavg},
    {"stat", proc_write_stat},
    {"meminfo", proc_write_meminfo},
    {"diskstats", proc_write_sockets},
    {"sys/kernel/random/uuid", proc_write_uuid},
    {"sys/kernel/random/boot_id", proc_write_boot_id},
};
static const struct own_file block_file = {"", proc_write_block_stat};
static const struct own_file fixed_file = {"", proc_write_fixed};

/* The files of each process, and of each of its threads. */
static const struct own_file process_files[] = {
    {"stat", proc_write_process_stat},     {"statm", proc_write_statm},
    {"status", proc_write_lines},          {"io", proc_write_lines},
    {"smaps", proc_write_lines},           {"smaps_rollup", proc_write_lines},
    {"sched", proc_write_sched},           {"schedstat", proc_write_schedstat},
    {"oom_score", proc_write_oom_score},   {"net/tcp", proc_write_sockets},
    {"net/tcp6", proc_write_sockets},      {"net/udp", proc_write_sockets},
    {"net/udp6", proc_write_sockets},      {"net/raw", proc_write_sockets},
    {"net/raw6", proc_write_sockets},      {"net/icmp", proc_write_sockets},
    {"net/icmp6", proc_write_sockets},     {"net/sockstat", proc_write_sockets},
    {"net/sockstat6", proc_write_sockets}, {"net/snmp", proc_write_sockets},
    {"mountinfo", proc_write_mounts},      {"mounts", proc_write_mounts},
    {"mountstats", proc_write_mounts},     {"cgroup", proc_write_cgroup},
    {"cpuset", proc_write_cpuset},         {"numa_maps", proc_write_numa_maps},
};

static const char *skip_number(const char *path)
{
    while (*path >= '0' && *path <= '9')
        path++;
    return path;
}

/* PID/NAME or PID/task/TID/NAME */
static const struct own_file *find_process_file(const char *path)
{
    const char *rest = skip_number(path);

    if (rest == path)
        return NULL;
    if (text_starts(rest, "/task/"))
        rest = skip_number(rest + 6);
    for (size_t i = 0; *rest == '/' && i < sizeof process_files / sizeof process_files[0]; i++)
        if (text_equal(rest + 1, process_files[i].path))
            return &process_files[i];
    return NULL;
}

/* `path` is the kernel's own name of an open file. */
static const struct own_file *find_own(const char *path)
{
    if (text_starts(path, BLOCK_FOLDER) && text_equal(proc_last_part(path), "stat"))
        return &block_file;
    if (!text_starts(path, "/proc/"))
        return NULL;
    path += 6;
    for (size_t i = 0; i < sizeof own_files / sizeof own_files[0]; i++)
        if (text_equal(path, own_files[i].path))
            return &own_files[i];
    return proc_fixed_text(path) != NULL ? &fixed_file : find_process_file(path);
}

static bool is_last_part(const char *name, const struct own_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal(name, proc_last_part(files[i].path)))
            return true;
    return false;
}

/* Return whether a file may be one of these, by the last part of its path, before the kernel is asked. */
static bool may_be_own(const char *path)
{
    const char *name = proc_last_part(path);

    return is_last_part(name, own_files, sizeof own_files / sizeof own_files[0]) ||
           is_last_part(name, process_files, sizeof process_files / sizeof process_files[0]) || proc_may_be_fixed(name);
}

static void fill(struct thread *thread, const struct own_file *file, const char *path, long fd)
{
    struct proc_page page = {.thread = thread, .path = path, .fd = fd};

    page.to = page.text;
    NATIVE(ftruncate, fd, 0);
    file->write(&page);
    proc_flush(&page);
}

/* After open(2) of `path` has returned `fd`: return the descriptor that the application gets, which is mostly `fd`. */
long proc_file_opened(struct call *call, const char *path, uint64_t flags, long fd)
{
    struct process *process = call->thread->process;
    char name[sizeof mark + PROC_PATH_ROOM];
    char *kernel_name = name + sizeof mark - 1;
    const struct own_file *file;
    long own;

    if (fd < 0 || (flags & (O_ACCMODE | O_PATH | O_DIRECTORY)) != O_RDONLY || is_bad_pointer(path))
        return fd;
    if (!may_be_own(path))
        return power_file_opened(call, path, flags, fd);
    text_append(name, name + sizeof name, mark);
    if (!proc_name_of(fd, kernel_name, PROC_PATH_ROOM) || (file = find_own(kernel_name)) == NULL)
        return fd;
    NATIVE(close, fd); /* this comes first, so that the application gets the lowest free number */
    own = NATIVE(memfd_create, name, flags & O_CLOEXEC ? 1 : 0);
    if (own < 0)
        return own;
    NATIVE(fchmod, own, 0444);
    fill(call->thread, file, kernel_name, own);
    process->has_own_files = true;
    return own;
}

/* After a seek to the beginning of one of these files, write its text anew. */
long sys_lseek(struct call *call)
{
    static const char anonymous[] = "/memfd:simunix:";
    static const char deleted[] = " (deleted)";
    char path[PROC_PATH_ROOM];
    const char *name = path + sizeof anonymous - 1;
    const struct own_file *file;
    struct stat status;

    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    if ((call->thread->process->flags & HELLO_FLAG_POWER) != 0 && call->a[1] == 0 && call->a[2] == BEGINNING &&
        NATIVE(fstat, call->a[0], &status) == 0)
        power_file_refresh(call, &status);
    if (call->thread->process->cgroups.are_used && call->a[1] == 0 && call->a[2] == BEGINNING)
        cgroup_file_sought(call, call->a[0]);
    if (call->thread->process->has_own_files && call->a[1] == 0 && call->a[2] == BEGINNING &&
        proc_name_of(call->a[0], path, sizeof path) && text_starts(path, anonymous)) {
        path[text_length(path) - (sizeof deleted - 1)] = '\0';
        file = find_own(name);
        if (file != NULL)
            fill(call->thread, file, name, call->a[0]);
    }
    if (descriptor_is_device(call->thread, call->a[0]))
        return 0; /* a device without function has no position, as /dev/null */
    return NATIVE(lseek, call->a[0], call->a[1], call->a[2]);
}
