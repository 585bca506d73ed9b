/* Calls that wait for children. */
#include "shim/core/clock.h"
#include "shim/core/memory.h"
#include "shim/pids/pids.h"
#include "shim/sys/process/process.h"
#include "shim/turn/turn.h"

/* Write the CPU time that a child has used for which the caller has waited; with pid 0, that of all dead children. */
void usage_of_child(const struct call *call, long pid, void *usage)
{
    usage_forget(usage);
    *(struct timeval *)usage = to_timeval(charged_child_ns(call->thread, pid));
}

/* Return the host's number of the child for which the caller is about to wait, and whose `usage` is asked for:
 * afterwards the kernel has forgotten the number. 0 if the caller's number of the child is equal. */
static long told_before_reaped(const struct call *call, long usage)
{
    long pid = (int)call->a[0];
    int type = pid > 0 ? P_PID : pid == -1 ? P_ALL : P_PGID;
    siginfo_t info = {.si_code = 0};

    if (usage == 0 || !pids_are_nested(call->thread->process) || call->thread->process->page->charge_least_ns == 0)
        return 0;
    NATIVE(waitid, type, pid < -1 ? -pid : pid, &info, WEXITED | WNOHANG | WNOWAIT, NULL);
    return pid_told(call->thread->process, info.si_pid);
}

/* Return what the server and the kernel report of children and traced threads, without waiting; 0: nothing new. */
static long wait4_now(struct call *call)
{
    int status;
    long tracee = tracees_wait(call, call->a[0], call->a[2], &status);
    long told;
    long result;

    if (tracee > 0) {
        if (call->a[1] != 0)
            *(int *)call->a[1] = status;
        if (call->a[3] != 0)
            memset((void *)call->a[3], 0, sizeof(struct rusage));
        return tracee;
    }
    told = told_before_reaped(call, call->a[3]);
    result = NATIVE(wait4, call->a[0], call->a[1], call->a[2] | WNOHANG, call->a[3]);
    if (result > 0 && call->a[3] != 0)
        usage_of_child(call, told != 0 ? told : result, (void *)call->a[3]);
    return result == -ECHILD && tracee == 0 ? 0 : result;
}

/* Ask without waiting. Children change state only in their own turns or in the server's, and the server then wakes the
 * waiting parent. */
long sys_wait4(struct call *call)
{
    struct wait wait = {.kind = PARK_CHILD, .deadline = NEVER};

    for (;;) {
        long result = wait4_now(call);

        if (result != 0)
            return result;
        if (call->a[2] & WNOHANG) {
            clock_charge_poll(call);
            return 0;
        }
        result = wait_on(call, &wait, true);
        if (result < 0)
            return result;
    }
}

/* Write the status of a thread, as waitpid(2) returns it, in the form of waitid(2). */
static void tell_tracee(siginfo_t *info, long tracee, int status)
{
    bool stopped = (status & 0xff) == 0x7f;

    info->si_signo = SIGCHLD;
    info->si_pid = (int)tracee;
    info->si_code = stopped ? CLD_TRAPPED : (status & 0x7f) == 0 ? CLD_EXITED : CLD_KILLED;
    info->si_status = stopped || (status & 0x7f) == 0 ? status >> 8 : status & 0x7f;
}

static long waitid_now(struct call *call, siginfo_t *info, long *told)
{
    long wanted = call->a[0] == P_PID ? call->a[1] : call->a[0] == P_ALL ? -1 : call->a[0] == P_PGID ? -call->a[1] : INT32_MIN;
    int status;
    long tracee = tracees_wait(call, wanted, call->a[3], &status);
    long result;

    if (tracee > 0) {
        tell_tracee(info, tracee, status);
        return 0;
    }
    if (call->a[4] != 0 && pids_are_nested(call->thread->process) && (call->a[3] & WNOWAIT) == 0 &&
        NATIVE(waitid, call->a[0], call->a[1], info, call->a[3] | WNOHANG | WNOWAIT, NULL) == 0)
        *told = pid_told(call->thread->process, info->si_pid);
    result = NATIVE(waitid, call->a[0], call->a[1], info, call->a[3] | WNOHANG, call->a[4]);
    if (*told == 0)
        *told = info->si_pid;
    return result == -ECHILD && tracee == 0 ? 0 : result;
}

long sys_waitid(struct call *call)
{
    struct wait wait = {.kind = PARK_CHILD, .deadline = NEVER};
    siginfo_t info;

    for (;;) {
        long told = 0;
        long result;

        memset(&info, 0, sizeof info);
        result = waitid_now(call, &info, &told);
        if (result != 0 || info.si_pid != 0 || (call->a[3] & WNOHANG) != 0) {
            if (result == 0 && info.si_pid == 0)
                clock_charge_poll(call);
            if (result == 0 && call->a[2] != 0)
                memcpy((void *)call->a[2], &info, sizeof info);
            if (result == 0 && call->a[4] != 0)
                usage_of_child(call, told, (void *)call->a[4]);
            return result;
        }
        result = wait_on(call, &wait, true);
        if (result < 0)
            return result;
    }
}
