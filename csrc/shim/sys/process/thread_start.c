/* The first code of a new thread, or of a vfork-like child, on its own stack. */
#include "shared/slots.h"
#include "shim/core/channel.h"
#include "shim/turn/tracee.h"
#include "shim/pids/pids.h"
#include "shim/strace/tracing.h"
#include "shim/sys/process/process.h"
#include "shim/turn/turn.h"

_Static_assert(offsetof(struct thread, start) == 8, "clone_entry.S");
_Static_assert(offsetof(struct thread, start.rip) == 120, "clone_entry.S");
_Static_assert(offsetof(struct thread, start.mxcsr) == 128, "clone_entry.S");
_Static_assert(offsetof(struct thread, start.fpu_control) == 132, "clone_entry.S");
_Static_assert(offsetof(struct thread, start.rsp) == 136, "clone_entry.S");
_Static_assert(offsetof(struct thread, guard) == 144, "guard.S");
_Static_assert(__NR_clone3 == 435, "clone_entry.S");

/* Write the number of a child into its slot, where the server finds the number if the child dies before its first message. */
static void leave_number(struct thread *thread)
{
    slot_at(thread->process->page, thread->link.slot)->value = thread->ids.host_tid;
}

/* Wait at the slot for the first turn. The server's answer is written over the number in the slot. So the number is
 * certain to be in the slot before the answer only if HELLO is sent first. */
static void begin_at_slot(struct thread *thread)
{
    int64_t value;

    if (thread->birth.starts_known) {
        leave_number(thread);
        say_hello_late(thread);
    }
    slot_wait(thread, &value);
    if (thread->link.owes_hello)
        leave_number(thread);
}

/* Returns when the thread has the turn and may start. A thread without a slot sends HELLO and waits for the answer. */
void trap_thread_started(struct thread *thread)
{
    bool is_process = thread->process->ids.pid == 0; /* a vfork-like child: a process of its own in its parent's memory */
    struct reply reply;

    set_thread_pointer(thread);
    if (is_process)
        pids_of_process(thread, thread->birth.is_nested);
    else
        pids_of_thread(thread);
    thread_use_own_stack(thread);
    if (is_process) {
        if (!thread->birth.shares_files)
            descriptors_close_others(thread->process, thread->link.channel);
    }
    if (thread->link.slot == 0 || (is_process && !thread->link.owes_hello))
        say_hello(thread, is_process ? HELLO_FORKED : HELLO_THREAD, "", &reply);
    else
        begin_at_slot(thread);
    if (thread->birth.has_network)
        namespace_network_entered(thread, true);
    if (thread->policy.is_charged)
        charge_begin(thread);
    strace_open(thread);
    trap_arm();
    signals_stop_if_due(thread, thread->birth.mask);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &thread->birth.mask, NULL, 8);
    if (thread->tracee.is_traced)
        tracee_take_signals(thread, thread->birth.mask, NULL, -1);
}
