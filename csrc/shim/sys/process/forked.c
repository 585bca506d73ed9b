/* The first code of a child with a copy of its creator's memory. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/pids/pids.h"
#include "shim/strace/tracing.h"
#include "shim/sys/process/process.h"
#include "shim/turn/turn.h"

/* The first code of a forked child, in its copy of the memory (its descriptors may be shared): become the announced
 * actor, and wait for the turn. */
void forked_start(struct call *call, const struct announced *born, bool shares_files, bool is_nested)
{
    struct thread *thread = call->thread;
    struct process *process = thread->process;
    struct reply reply;

    if (!shares_files)
        descriptors_close_others(process, born->channel);
    thread->link.channel = born->channel;
    thread->link.slot = born->slot;
    thread->tracee = (struct tracee){.is_traced = born->is_traced, .due = born->is_traced ? SIGSTOP : 0};
    thread->link.has_turn = false;
    thread->link.epoll = -1;
    thread->link.pooled_channel = 0;
    handoff_forget(process);
    process->main = thread;
    process->space.number = 0;
    if (process->storage.store_watch > 0)
        process->storage.store_watch = 0; /* the kernel's watch is for the memory of the creator, not for this copy */
    thread->signals.held = 0;
    process->space.is_guest = false;
    process->descriptors.are_shared = shares_files;
    process->cpu.computed_ns = 0;
    thread->delivery.handed = 0;
    thread->birth.next_nests = false;
    pids_of_process(thread, is_nested);
    process->dying = process->free = NULL; /* these are records of threads that do not exist in this process; their
                                            * memory is not freed */
    memset(process->waiters, 0, sizeof process->waiters);
    trap_arm();
    say_hello(thread, HELLO_FORKED, "", &reply);
    process->random_state = (uint64_t)reply_number(&reply, 1);
    if (thread->birth.has_network)
        namespace_network_entered(thread, true);
    if (thread->policy.is_charged) {
        thread->charge = (struct charge_account){.next = born->next_charge};
        charge_begin(thread);
    }
    thread->delivery.looks_for_stops = true;
    strace_open(thread);
}
