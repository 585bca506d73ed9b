/* Memory of a process whose cgroup counts it. The server counts at calls that grow the memory by as much as it has said;
 * between these the process costs nothing (rsg_server/cgroups/memory.py). */
#include "shim/core/channel.h"
#include "shim/sys/cgroup/cgroup.h"

#define PR_SET_THP_DISABLE 41
#define PAGE_BYTES 4096

/* Begin to count the process's memory. Transparent huge pages are switched off: whether the kernel uses one depends on
 * the computer, and it would count as touched whole. */
__attribute__((cold)) void cgroup_memory_begins(struct process *process)
{
    NATIVE(prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0);
    /* The server counts while a thread that has sent a message goes on to its wait, on this stack, as fast as the computer
     * is. */
    if (process->main != NULL)
        for (volatile uint8_t *at = process->main->own_stack, *end = at + OWN_STACK_BYTES; at < end; at += PAGE_BYTES)
            *at = *at;
    process->cgroups.memory_step = 1; /* ask how many bytes */
    process->cgroups.memory_grown = 0;
}

/* Count what was touched before, because memory is about to grow by so many bytes. */
__attribute__((cold)) void cgroup_memory_grows(struct thread *thread, uint64_t bytes)
{
    struct process *process = thread->process;
    struct reply reply;

    process->cgroups.memory_grown += bytes;
    if (process->cgroups.memory_grown < process->cgroups.memory_step)
        return;
    process->cgroups.memory_grown = 0;
    if (ASK(thread, &reply, OP_CGROUP_GREW) == 0)
        process->cgroups.memory_step = (uint64_t)reply_number(&reply, 1);
}
