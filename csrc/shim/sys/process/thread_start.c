/* The first code of a new thread, or of a vfork-like child, on its own stack. */
#include "shim/core/channel.h"
#include "shim/turn/tracee.h"
#include "shim/strace/tracing.h"
#include "shim/sys/process/process.h"
#include "shim/turn/turn.h"

_Static_assert(offsetof(struct thread, start) == 8, "clone_entry.S");
_Static_assert(offsetof(struct thread, start.rip) == 120, "clone_entry.S");
_Static_assert(offsetof(struct thread, start.mxcsr) == 128, "clone_entry.S");
_Static_assert(offsetof(struct thread, start.fpu_control) == 132, "clone_entry.S");
_Static_assert(offsetof(struct thread, guard) == 136, "guard.S");
_Static_assert(__NR_clone3 == 435, "clone_entry.S");

/* Returns when the thread holds the turn and may start. A thread without a slot says hello and waits for the answer. */
void trap_thread_started(struct thread *thread)
{
    bool is_process = thread->process->pid == 0; /* a vfork-like child: a process of its own in its parent's memory */
    struct reply reply;
    int64_t value;

    set_thread_pointer(thread);
    thread->tid = (int)NATIVE(gettid);
    thread_use_own_stack(thread);
    if (is_process) {
        thread->process->pid = thread->tid;
        if (!thread->shares_files)
            descriptors_close_others(thread->process, thread->channel);
    }
    if (is_process || thread->slot == 0)
        say_hello(thread, is_process ? HELLO_FORKED : HELLO_THREAD, "", &reply);
    else
        slot_wait(thread, &value);
    strace_open(thread);
    trap_arm();
    signals_stop_if_due(thread, thread->start_mask);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &thread->start_mask, NULL, 8);
    if (thread->tracee.is_traced)
        tracee_take_signals(thread, thread->start_mask, NULL, -1);
}
