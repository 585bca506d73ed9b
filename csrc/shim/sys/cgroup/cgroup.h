/* Room sys/cgroup: folders and control files of the host's cgroups, of which the server has the content
 * (rsg_server/cgroups/).
 *
 * The files are in a tmpfs of the host, which is recognised by its device number. The kernel stores the names, owners
 * and modes of these files. May call core only. */
#ifndef SIMUNIX_SYS_CGROUP_H
#define SIMUNIX_SYS_CGROUP_H

#include "shim/core/core.h"

/* Return whether a file is in the host's cgroups. If the host has none the device is 0, which no file has. */
static inline bool is_in_cgroups(const struct thread *thread, const struct stat *status)
{
    return __builtin_expect(status->st_dev == thread->process->cgroups.device, 0);
}

static inline bool is_control_file(const struct thread *thread, const struct stat *status)
{
    return is_in_cgroups(thread, status) && (status->st_mode & S_IFMT) == S_IFREG;
}

/* absent.c */
bool cgroup_file_is_asked_for(const struct call *call);
bool cgroup_file_appears(struct thread *thread, long folder, const char *path);
long cgroup_file_comes(struct call *call);
void cgroup_folder_is_looked_at(struct thread *thread, const struct stat *folder);

/* files.c */
bool cgroup_file_may_be(const char *path);
long cgroup_file_opened(struct call *call, const char *path, uint64_t flags, long fd);
long cgroup_file_written(struct call *call, const struct stat *status, const char *bytes, size_t size);
long cgroup_file_refresh(struct call *call, long fd, int how);
long cgroup_file_sought(struct call *call, long fd);
long cgroup_poll(struct call *call, struct pollfd *fds, unsigned count);
bool cgroup_file_is(long fd, const char *name);

/* subtree.c */
bool cgroup_is_passed_on(long fd, const char *text, size_t size);

/* folders.c */
long cgroup_made(struct thread *thread, const struct stat *above, const struct stat *folder, const char *path);
long cgroup_remove(struct thread *thread, const struct stat *folder);
long cgroup_for_child(struct thread *thread, long fd);

/* memory.c */
void cgroup_memory_begins(struct process *process);
void cgroup_memory_grows(struct thread *thread, uint64_t bytes);
static inline bool cgroup_counts_memory(const struct process *process)
{
    return __builtin_expect(process->cgroups.memory_step != 0, 0);
}

#endif
