/* Calls that return properties of the emulated host: name, memory, groups. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/turn/turn.h"

struct uname_result {
    char member[6][65];
};

/* If the host has no UTS namespace of its own, the name that the kernel returns is replaced. */
long sys_uname(struct call *call)
{
    struct uname_result *result = (void *)call->a[0];
    struct process *process = call->thread->process;
    long status = NATIVE(uname, result);

    if (status == 0 && (process->flags & HELLO_FLAG_FAKE_NAME))
        memcpy(result->member[1], process->host.name, sizeof process->host.name);
    return status;
}

#define LOAD_SHIFT 5 /* load averages of sysinfo(2) have 16 binary places, those of the server 11 */

struct sysinfo_result {
    int64_t uptime;
    uint64_t loads[3];
    uint64_t total_ram, free_ram, shared_ram, buffer_ram, total_swap, free_swap;
    uint16_t processes, pad;
    uint64_t total_high, free_high;
    uint32_t unit;
};

long sys_sysinfo(struct call *call)
{
    struct sysinfo_result *result = (void *)call->a[0];
    struct process *process = call->thread->process;
    struct reply reply;

    if (is_bad_pointer(result))
        return -EFAULT;
    clock_read(call->thread, CLOCK_MONOTONIC); /* at the price of a clock read */
    *result = (struct sysinfo_result){
        .uptime = host_uptime_ns(call->thread) / SECOND_NS,
        .total_ram = process->host.memory_bytes,
        .free_ram = process->host.memory_bytes / 2,
        .processes = 100,
        .unit = 1,
    };
    if (process->page->charge_least_ns != 0 && ASK(call->thread, &reply, OP_HOST_CPU, 0) == 0)
        for (int i = 0; i < 3; i++)
            result->loads[i] = (uint64_t)reply_number(&reply, HOST_CPU_LOADS + i) << LOAD_SHIFT;
    return 0;
}

/* In a user namespace without further group ids the kernel refuses this call; the emulated root must not notice. */
long sys_setgroups(struct call *call)
{
    long result = NATIVE(setgroups, call->a[0], call->a[1]);

    return result == -EPERM && (call->thread->process->flags & HELLO_FLAG_FAKE_GROUPS) ? 0 : result;
}
