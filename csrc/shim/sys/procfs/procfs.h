/* Room sys/procfs: files of /proc that tell the time, or figures of the real computer, as the emulated host would show it.
 *
 * The files of /sys/block about the work of the host's disks belong to this room as well. The room owns the text of these
 * files (host.c, process.c, memory.c, statm.c, counters.c, sockets.c, mounts.c), how the text is composed (proc_page.c,
 * lines.c) and when it is written (files.c). May call sys/process, sys/numa, turn and below.
 */
#ifndef SIMUNIX_PROC_FILES_H
#define SIMUNIX_PROC_FILES_H

#include "shim/core/core.h"
#include "shim/sys/device/device.h"

#define USER_TICK_NS 10000000L /* 10 ms: programs see CPU time in hundredths of a second (USER_HZ) */

#define PROC_PATH_ROOM 256
#define BLOCK_FOLDER "/sys/block/"

/* The text of a file that is being written. `path` is the kernel's name for the file. */
struct proc_page {
    struct thread *thread;
    const char *path;
    long fd;
    long at;
    char *to;
    char text[512];
};

#define LINE_ROOM 512

/* Reads the lines of a file of the kernel, one after the other. */
struct lines {
    long fd;
    long size, at; /* of `text` */
    char text[512];
    char line[LINE_ROOM];
};

struct own_file {
    const char *path; /* the path below /proc */
    void (*write)(struct proc_page *page);
};

/* files.c */
long proc_file_opened(struct call *call, const char *path, uint64_t flags, long fd);

/* proc_page.c */
void proc_flush(struct proc_page *page);
void proc_put(struct proc_page *page, const char *text);
void proc_put_number(struct proc_page *page, const char *before, int64_t number, const char *after);
void proc_put_hex(struct proc_page *page, uint64_t number, int digits);
const char *proc_last_part(const char *path);
int proc_id_of(const char *path);
void proc_beside(const char *path, const char *name, char *other, size_t size);

/* lines.c */
bool lines_open(struct lines *lines, const char *path);
bool lines_next(struct lines *lines);
const char *proc_field(const char *text, int number);
int64_t proc_number_at(const char *text);

/* host.c */
void proc_write_uptime(struct proc_page *page);
void proc_write_loadavg(struct proc_page *page);
void proc_write_stat(struct proc_page *page);
void proc_write_meminfo(struct proc_page *page);
void proc_write_uuid(struct proc_page *page);
void proc_write_boot_id(struct proc_page *page);

/* sockets.c */
void proc_write_sockets(struct proc_page *page);
void proc_write_block_stat(struct proc_page *page);

/* process.c */
void proc_write_process_stat(struct proc_page *page);
void proc_put_known(struct proc_page *page, const char *name, const char *rest);

/* statm.c */
int64_t proc_resident_pages(const char *path);
void proc_write_statm(struct proc_page *page);

/* memory.c */
void proc_write_lines(struct proc_page *page);
void proc_write_sched(struct proc_page *page);
void proc_write_schedstat(struct proc_page *page);
void proc_write_oom_score(struct proc_page *page);

/* numa_maps.c */
void proc_write_numa_maps(struct proc_page *page);

/* sets.c */
void proc_put_processors(struct proc_page *page, bool as_list);
void proc_put_list(struct proc_page *page, const uint8_t *set, int bits, const char *after);
void proc_put_nodes(struct proc_page *page, bool as_list, const char *of_computer);

/* mounts.c */
void proc_write_mounts(struct proc_page *page);

/* contained_mounts.c */
void mount_without_containment(char *options, char *super);

/* counters.c */
void proc_write_cgroup(struct proc_page *page);
void proc_write_cpuset(struct proc_page *page);
bool proc_is_of_cgroups(const struct proc_page *page, const char *wanted);
const char *proc_fixed_text(const char *path);
bool proc_may_be_fixed(const char *name);
void proc_write_fixed(struct proc_page *page);

/* power_files.c */
long power_file_opened(struct call *call, const char *path, uint64_t flags, long fd);
bool power_file_open(struct call *call, int directory, const char *path, uint64_t flags, long *fd);
long power_file_written(struct call *call, const struct stat *status, const char *bytes, size_t size);
long power_register_read(struct call *call, const struct stat *status);
void power_file_refresh(struct call *call, const struct stat *status);

/* stored_mounts.c */
/* minor numbers of device 0. The kernel gives the lowest of its 2^20 numbers first, so it never gives one as high as
 * this. */
#define REMOTE_MINOR 0xff000
struct shown_device {
    uint32_t major, minor;
};
void stored_mounts_read(struct process *process);
const struct stored_mount *stored_mount_of(const struct process *process, long folder, const char *path, struct statx *status);
const struct stored_mount *stored_mount_numbered(const struct process *process, uint64_t mount);
const struct stored_mount *stored_mount_at(const struct process *process, long folder, const char *path, long flags);
struct shown_device stored_mount_device(const struct stored_mount *mount);
uint64_t stored_device(const struct statx *status);
uint64_t stored_file_number(uint64_t device, uint64_t inode);
void stored_file_cut(struct thread *thread, const struct stat *status, uint64_t size);

#endif
