/* Namespaces inside a host's own: mounts, names, users, networks and IPC are the kernel's. So are PID namespaces, but the server
 * knows processes by the host's numbers (shim/pids), which are read from the host's /proc: it is kept before it can be lost. */
#include "shim/pids/pids.h"
#include "shim/sys/process/process.h"

/* Before the caller, or its next child, gets other mounts or other numbers. False if that cannot be. */
bool namespace_prepare(struct thread *thread, uint64_t flags)
{
    if (proc_keep(thread->process) || (flags & CLONE_NEWPID) == 0)
        return true;
    warn_once(thread, WARN_REFUSED, "CLONE_NEWPID: a PID namespace is made only where /proc is mounted", NULL);
    return false;
}

long sys_unshare(struct call *call)
{
    uint64_t flags = (uint64_t)call->a[0];
    long result;

    if ((flags & (CLONE_NEWPID | CLONE_NEWNS)) != 0 && !namespace_prepare(call->thread, flags))
        return -EPERM;
    result = NATIVE(unshare, flags);
    if (result == 0 && (flags & CLONE_NEWPID) != 0)
        call->thread->births_nest = true;
    return result;
}

/* What the descriptor stands for the kernel knows: a namespace, or a process with several (Linux 5.8). */
long sys_setns(struct call *call)
{
    long result;

    if (!namespace_prepare(call->thread, CLONE_NEWPID))
        return -EPERM;
    result = NATIVE(setns, call->a[0], call->a[1]);
    if (result == 0)
        call->thread->births_nest = births_are_nested(call->thread->process);
    return result;
}
