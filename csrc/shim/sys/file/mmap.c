/* Mappings of files. The shim does not see stores to a shared mapping, and a shared mapping may contain futex words. */
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/file/file.h"
#include "shim/sys/numa/numa.h"

#define PAGE_BYTES 4096UL
#define BREAK_MOST (1UL << 40)
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* The shim does not see stores to a shared mapping: such stores count as made at the moment of the mapping. */
static void file_mapped(struct thread *thread, long fd)
{
    struct stat status;

    if (NATIVE(fstat, fd, &status) == 0 && is_regular(&status))
        file_note(thread, &status, FILE_WRITTEN);
}

static void remember(struct process *process, long address, uint64_t size)
{
    if (process->mappings.shared_count == SHARED_RANGES_MAX)
        process->mappings.shared_overflow = true;
    else
        process->mappings.shared[process->mappings.shared_count++] =
            (struct shared_range){(uint64_t)address, (uint64_t)address + size};
}

static bool is_shared(const struct process *process, uint64_t address)
{
    for (int i = 0; i < process->mappings.shared_count; i++)
        if (address >= process->mappings.shared[i].start && address < process->mappings.shared[i].end)
            return true;
    return false;
}

/* mremap(2): memory that processes share may move, or grow. */
long sys_mremap(struct call *call)
{
    struct process *process = call->thread->process;
    long address;

    if (cgroup_counts_memory(process) && (uint64_t)call->a[2] > (uint64_t)call->a[1])
        cgroup_memory_grows(call->thread, (uint64_t)call->a[2] - (uint64_t)call->a[1]);
    address = call_natively(call);
    if ((address >= 0 || address < -4096) && is_shared(process, (uint64_t)call->a[0]))
        remember(process, address, (uint64_t)call->a[2]);
    return address;
}

/* brk(2): if the break cannot be moved, the kernel returns the present break. In a program that gains privileges, the
 * kernel's break has a random address, so the shim keeps the break. */
long sys_brk(struct call *call)
{
    struct process *process = call->thread->process;
    uint64_t wanted = (uint64_t)call->a[0];
    uint64_t before = (process->mappings.break_end + PAGE_BYTES - 1) & -PAGE_BYTES;
    uint64_t after = (wanted + PAGE_BYTES - 1) & -PAGE_BYTES;
    long result = 0;

    if (cgroup_counts_memory(process) && wanted != 0) {
        if (wanted > process->mappings.kernel_break)
            cgroup_memory_grows(call->thread,
                                process->mappings.kernel_break == 0 ? 0 : wanted - process->mappings.kernel_break);
        process->mappings.kernel_break = wanted;
    }
    if (process->mappings.break_start == 0)
        return call_natively(call);
    if (wanted < process->mappings.break_start || wanted - process->mappings.break_start > BREAK_MOST)
        return (long)process->mappings.break_end;
    if (after > before)
        result = NATIVE(mmap, before, after - before, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                        -1, 0);
    else if (after < before)
        result = NATIVE(munmap, after, before - after);
    if (result >= 0)
        process->mappings.break_end = wanted;
    return (long)process->mappings.break_end;
}

/* msync(2): the thread does not wait for the real disk, as with fsync(2) (sync.c). For files on storages,
 * sys/io/mapped.c waits. */
long sys_msync(struct call *call)
{
    long flags = call->a[2];

    if ((flags & (MS_SYNC | MS_ASYNC)) == MS_SYNC)
        flags ^= MS_SYNC | MS_ASYNC;
    return NATIVE(msync, call->a[0], call->a[1], flags);
}

/* Record shared, writable mappings: only futex words in these need a key that is valid in other processes. */
long sys_mmap(struct call *call)
{
    struct process *process = call->thread->process;
    long address;

    if ((call->a[3] & MAP_ANONYMOUS) == 0 && descriptor_is_device(call->thread, call->a[4]))
        return -ENODEV;
    if (cgroup_counts_memory(process) && (call->a[3] & MAP_TYPE) == MAP_PRIVATE && (call->a[2] & PROT_WRITE) != 0)
        cgroup_memory_grows(call->thread, (uint64_t)call->a[1]);
    address =
        (call->a[3] & MAP_ANONYMOUS) == 0 && descriptor_is_device(call->thread, call->a[4]) ? -ENODEV : call_natively(call);
    if (address < 0 && address > -4096)
        return address;
    if (__builtin_expect(process->numa.bound != NULL, 0))
        memory_ranges_forget(process, (uint64_t)address, (uint64_t)call->a[1]);
    if ((call->a[3] & MAP_TYPE) == MAP_PRIVATE || (call->a[2] & PROT_WRITE) == 0)
        return address;
    if ((call->a[3] & MAP_ANONYMOUS) == 0)
        file_mapped(call->thread, call->a[4]);
    remember(process, address, (uint64_t)call->a[1]);
    return address;
}
