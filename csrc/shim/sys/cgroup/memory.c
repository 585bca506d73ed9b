/* Memory of a process whose cgroup counts it. The server counts the memory at calls by which the memory has grown by
 * the number of bytes that the server has set; between these calls, counting costs nothing
 * (rsg_server/cgroups/memory.py). */
#include "shim/core/channel.h"
#include "shim/sys/cgroup/cgroup.h"

#define PR_SET_THP_DISABLE 41
#define PAGE_BYTES 4096

/* Begin to count the process's memory. Transparent huge pages are switched off: whether the kernel uses a huge page
 * depends on the computer, and the whole page would count as touched. */
__attribute__((cold)) void cgroup_memory_begins(struct process *process)
{
    NATIVE(prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0);
    /* The server counts while the thread that has sent the message goes on to its wait on this stack, at the computer's
     * speed; so the stack is touched before. */
    if (process->main != NULL)
        for (volatile uint8_t *at = process->main->own_stack, *end = at + OWN_STACK_BYTES; at < end; at += PAGE_BYTES)
            *at = *at;
    process->cgroups.memory_step = 1; /* ask how many bytes */
    process->cgroups.memory_grown = 0;
}

/* Have the memory counted that was touched so far, because the memory is about to grow by so many bytes. */
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
