/* Sends signals: by the real kernel, and then tells the server, which gives the target a turn to look. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/pids/pids.h"

/* Return whether a signal reaches the sender: its process, this very thread, or its group. SIGSTOP stops all threads,
 * whichever it is sent to. */
static bool reaches_self(struct call *call, long pid, long tid, int signal)
{
    if (pid == call->thread->process->ids.pid)
        return tid == 0 || tid == call->thread->ids.tid || signal == SIGSTOP;
    return pid == 0 ? tid == 0 : pid < -1 && -pid == NATIVE(getpgid, 0);
}

/* Tell the server of a signal that stops the sender itself before sending it, since the sender cannot do so when the
 * kernel has stopped it. */
static bool stops_self(struct call *call, long pid, long tid, int signal)
{
    return signals_default_stops(signal) && reaches_self(call, pid, tid, signal) &&
           (signal == SIGSTOP || (call->mask & SIGNAL_BIT(signal)) == 0);
}

static long stop_self(struct call *call, long pid, int signal)
{
    long result;

    signals_announce_stop(call->thread, signal, pid > 0 ? -1 : target_told(call->thread->process, pid));
    result = call_natively(call);
    signals_stop(call->thread, signal);
    return result;
}

/* Return whether this signal would end the process, if one of its own threads sends it and does not block it. */
static bool ends_process(int signal)
{
    struct kernel_sigaction action = {0};

    return signal > 0 && signal != SIGSEGV && NATIVE(rt_sigaction, signal, NULL, &action, 8) == 0 &&
           action.handler == (void *)SIG_DFL && !signals_default_ignores(signal);
}

/* Tell the server that this thread sends its own process a signal. The server takes a death by any other signal for one
 * from outside. */
static void announce_own(struct call *call, long pid, long tid, int signal)
{
    struct reply reply;

    if (ends_process(signal))
        ASK(call->thread, &reply, OP_SIGNAL, target_told(call->thread->process, pid), pid_told(call->thread->process, tid),
            signal);
}

/* Tell the server that a process group is about to be killed. When its members are dead, the kernel may not know any
 * more which processes they were. */
static void announce_kill(struct call *call, long pid)
{
    struct reply reply;

    ASK(call->thread, &reply, OP_SIGNAL, target_told(call->thread->process, pid), 0, -SIGKILL);
}

/* Have the server stop a thread for its tracer, an emulated process, because SIGSTOP is sent to the thread. Returns
 * whether the server stops the thread. */
static bool stops_for_tracer(struct call *call, long pid, long tid, int signal)
{
    struct reply reply;

    if (signal != SIGSTOP || call->thread->process->page->tracees == 0 || pid < 0)
        return false;
    if (call->thread->tracee.is_traced && reaches_self(call, pid, tid, signal) && (tid == 0 || tid == call->thread->ids.tid)) {
        call->thread->tracee.due = SIGSTOP;
        return true;
    }
    return ASK(call->thread, &reply, OP_PTRACE, PTRACE_STOPPED_BY_SIGNAL, pid_told(call->thread->process, tid != 0 ? tid : pid),
               0) == 0;
}

/* Send a signal by the kernel. SIGKILL to a thread ends its process, as SIGKILL to the process does. But only a SIGKILL
 * to the process stays pending until the end, and shows the server that the process is certain to die. */
static long send_natively(const struct call *call, long pid, long tid, int signal)
{
    long result;

    if (signal != SIGKILL || tid == 0 || pid <= 0)
        return call_natively(call);
    result = NATIVE(tgkill, pid, tid, 0);
    return result != 0 ? result : NATIVE(kill, pid, SIGKILL);
}

/* Send a signal as asked, then tell the server which thread or process must look. `tid` is 0 for a whole process;
 * `told` is the host's number of `pid`. */
static long send_told(struct call *call, long pid, long told, long tid, int signal)
{
    long told_tid = pid_told(call->thread->process, tid);
    struct reply reply;
    long result;

    if (stops_for_tracer(call, pid, tid, signal))
        return 0;
    if (stops_self(call, pid, tid, signal))
        return stop_self(call, pid, signal);
    if ((pid == call->thread->process->ids.pid && tid == call->thread->ids.tid) ||
        (signal == SIGKILL && reaches_self(call, pid, tid, signal)))
        announce_own(call, pid, tid, signal);
    else if (signal == SIGKILL && pid < -1)
        announce_kill(call, pid);
    result = send_natively(call, pid, tid, signal);
    if (result != 0 || signal == 0 || (pid == call->thread->process->ids.pid && tid == call->thread->ids.tid))
        return result;
    ASK(call->thread, &reply, OP_SIGNAL, told, told_tid, signal);
    return 0;
}

static long send_signal(struct call *call, long pid, long tid, int signal)
{
    return send_told(call, pid, target_told(call->thread->process, pid), tid, signal);
}

/* On hosts that share this computer's pids, -1 would mean every process on the computer. */
long sys_kill(struct call *call)
{
    if ((int)call->a[0] == -1 && (call->thread->process->flags & HELLO_FLAG_FAKE_NAME)) {
        warn_once(call->thread, WARN_REFUSED, "kill(-1): without namespaces it would reach processes outside the emulation",
                  NULL);
        return -EPERM;
    }
    if ((int)call->a[0] == call->thread->process->ids.pid && signals_hand_to_main(call->thread, (int)call->a[1])) {
        struct reply reply;

        ASK(call->thread, &reply, OP_SIGNAL, call->thread->process->ids.host_pid, 0, (int)call->a[1]);
        return 0;
    }
    return send_signal(call, (int)call->a[0], 0, (int)call->a[1]);
}

long sys_tgkill(struct call *call)
{
    return send_signal(call, (int)call->a[0], (int)call->a[1], (int)call->a[2]);
}

/* The server must find the process of another process's thread: pid 0 with a thread id asks for that. */
long sys_tkill(struct call *call)
{
    long own = call->thread->process->ids.pid;
    bool is_own = NATIVE(tgkill, own, call->a[0], 0) == 0;

    return send_signal(call, is_own ? own : 0, (int)call->a[0], (int)call->a[1]);
}

long sys_rt_sigqueueinfo(struct call *call)
{
    return send_signal(call, (int)call->a[0], 0, (int)call->a[1]);
}

long sys_rt_tgsigqueueinfo(struct call *call)
{
    return send_signal(call, (int)call->a[0], (int)call->a[1], (int)call->a[2]);
}

/* The caller may have a pidfd of a process that it does not see in its namespace; 0 is no number of such a process, nor
 * of a group. */
long sys_pidfd_send_signal(struct call *call)
{
    long told = 0;
    long pid = pid_of_pidfd(call->thread->process, (int)call->a[0], &told);

    if (pid < 0)
        return NATIVE(pidfd_send_signal, call->a[0], call->a[1], call->a[2], call->a[3]);
    return send_told(call, pid == 0 ? NO_PID : pid, told, 0, (int)call->a[1]);
}
