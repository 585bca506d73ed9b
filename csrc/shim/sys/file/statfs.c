/* statfs, fstatfs: file systems of the emulated host's disk and memory, whose sizes the scenario sets; half of them is
 * free. The free room of this computer's file systems changes by the minute, and so is not shown. A program that writes
 * more than the real disk can store gets the real ENOSPC. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/file/file.h"
#include "shim/sys/procfs/procfs.h"

#include <linux/magic.h>

#define BLOCK_BYTES 4096UL
#define BYTES_PER_FILE 16384 /* as mkfs.ext4 makes inodes */

/* The kernel's struct statfs on x86-64. */
struct file_system {
    int64_t type, block_bytes;
    uint64_t blocks, free, available, files, free_files;
    int32_t id[2];
    int64_t name_length, fragment_bytes, flags, spare[4];
};

/* The size does not change during the run, so a program asks the server only once. */
static uint64_t disk_bytes(struct thread *thread)
{
    struct process *process = thread->process;
    struct reply reply;

    if (process->host.disk_bytes == 0 && ASK(thread, &reply, OP_HOST) == 0)
        process->host.disk_bytes = (uint64_t)reply_number(&reply, HOST_DISK);
    return process->host.disk_bytes;
}

/* The host's cgroups are in a file system in memory. */
__attribute__((cold)) static void show_cgroup(const struct thread *thread, long folder, const char *path,
                                              struct file_system *system)
{
    struct stat status;

    if (system->type != TMPFS_MAGIC || thread->process->cgroups.device == 0 ||
        NATIVE(newfstatat, folder, path, &status, AT_EMPTY_PATH) != 0 || !is_in_cgroups(thread, &status))
        return;
    *system = (struct file_system){
        .type = CGROUP2_SUPER_MAGIC, .block_bytes = 4096, .name_length = 255, .fragment_bytes = 4096, .flags = system->flags};
}

/* A storage with a capacity shows the capacity, and the room that files take. */
static bool show_storage(struct thread *thread, long folder, const char *path, struct file_system *system)
{
    struct statx status;
    const struct stored_mount *mount = NULL;
    struct reply reply;

    if (thread->process->storage.count != 0)
        mount = stored_mount_of(thread->process, folder, path, &status);
    if (mount == NULL || (mount->flags & STORED_LIMITED) == 0 ||
        ASK(thread, &reply, OP_STORAGE, STORAGE_ROOM, mount->storage, 0UL, 0UL, 0UL, 0UL) != 0)
        return false;
    *system = (struct file_system){.type = (mount->flags & STORED_REMOTE) != 0 ? NFS_SUPER_MAGIC : EXT4_SUPER_MAGIC,
                                   .block_bytes = BLOCK_BYTES,
                                   .blocks = (uint64_t)reply_number(&reply, 2) / BLOCK_BYTES,
                                   .free = (uint64_t)reply_number(&reply, 1) / BLOCK_BYTES,
                                   .name_length = 255,
                                   .fragment_bytes = BLOCK_BYTES,
                                   .flags = system->flags};
    system->available = system->free;
    system->files = (uint64_t)reply_number(&reply, 2) / BYTES_PER_FILE;
    system->free_files = (uint64_t)reply_number(&reply, 1) / BYTES_PER_FILE;
    return true;
}

/* File systems without blocks (proc, sysfs) have no size to show. */
static void show(struct thread *thread, struct file_system *system)
{
    bool is_in_memory = system->type == TMPFS_MAGIC;
    uint64_t bytes;

    if (system->blocks == 0 || system->block_bytes <= 0)
        return;
    bytes = is_in_memory ? thread->process->host.memory_bytes / 2 : disk_bytes(thread);
    system->blocks = bytes / (uint64_t)system->block_bytes;
    system->free = system->available = system->blocks / 2;
    system->files = bytes / BYTES_PER_FILE;
    system->free_files = system->files / 2;
    system->id[0] = system->id[1] = 0; /* the size of the real device */
}

long sys_statfs(struct call *call)
{
    long result = NATIVE(statfs, call->a[0], call->a[1]);

    struct file_system *system = (void *)call->a[1];

    if (result != 0)
        return result;
    show_cgroup(call->thread, AT_FDCWD, (const char *)call->a[0], system);
    if (!show_storage(call->thread, AT_FDCWD, (const char *)call->a[0], system))
        show(call->thread, system);
    return result;
}

long sys_fstatfs(struct call *call)
{
    long result = descriptor_is_ours(call, call->a[0]) ? -EBADF : NATIVE(fstatfs, call->a[0], call->a[1]);

    if (result == 0) {
        show_cgroup(call->thread, call->a[0], "", (struct file_system *)call->a[1]);
        if (!show_storage(call->thread, call->a[0], "", (struct file_system *)call->a[1]))
            show(call->thread, (struct file_system *)call->a[1]);
    }
    return result;
}
