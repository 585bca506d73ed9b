/* Namespaces that programs of a host make: the kernel handles those of mounts, names, users and IPC. The kernel also
 * handles PID namespaces, but the server knows processes by the host's numbers (shim/pids), which the shim reads in the
 * host's /proc; so the shim opens that /proc before the process can lose sight of it. New network namespaces are
 * reported to the server, which has the internet sockets. Namespaces of clocks are refused, since the emulation has its
 * own clocks. */
#include "shim/core/channel.h"
#include "shim/pids/pids.h"
#include "shim/sys/process/process.h"

/* Prepare for the caller, or its next child, to get other mounts, other numbers or another network. Returns false if
 * that is impossible. */
bool namespace_prepare(struct thread *thread, uint64_t flags)
{
    if ((flags & CLONE_NEWTIME) != 0) {
        warn_once(thread, WARN_REFUSED, "CLONE_NEWTIME: the clocks are the emulation's, and equal for all programs of a host",
                  NULL);
        return false;
    }
    if (proc_keep(thread->process) || (flags & (CLONE_NEWPID | CLONE_NEWNET)) == 0)
        return true;
    warn_once(thread, WARN_REFUSED, "CLONE_NEWPID, CLONE_NEWNET: such a namespace is made only where /proc is mounted", NULL);
    return false;
}

static long network_inode(const struct process *process)
{
    struct stat status;

    return process->ids.proc > 0 && NATIVE(newfstatat, process->ids.proc, "thread-self/ns/net", &status, 0) == 0
               ? (long)status.st_ino
               : 0;
}

void namespace_network_entered(struct thread *thread, bool is_new)
{
    struct reply reply;

    thread->birth.has_network = false;
    ASK(thread, &reply, OP_NETWORK, network_inode(thread->process), is_new);
}

long sys_unshare(struct call *call)
{
    uint64_t flags = (uint64_t)call->a[0];
    long result;

    if ((flags & NAMESPACES_PREPARED) != 0 && !namespace_prepare(call->thread, flags))
        return -EPERM;
    result = NATIVE(unshare, flags);
    if (result == 0 && (flags & CLONE_NEWPID) != 0)
        call->thread->birth.next_nests = true;
    if (result == 0 && (flags & CLONE_NEWNET) != 0)
        namespace_network_entered(call->thread, true);
    return result;
}

/* Only the kernel knows what the descriptor stands for: a namespace, or a process with several (Linux 5.8). */
long sys_setns(struct call *call)
{
    long network;
    long result;

    if (!namespace_prepare(call->thread, CLONE_NEWPID | ((uint64_t)call->a[1] & CLONE_NEWTIME)))
        return -EPERM;
    network = network_inode(call->thread->process);
    result = NATIVE(setns, call->a[0], call->a[1]);
    if (result != 0)
        return result;
    call->thread->birth.next_nests = births_are_nested(call->thread->process);
    if (network_inode(call->thread->process) != network)
        namespace_network_entered(call->thread, false);
    return 0;
}
