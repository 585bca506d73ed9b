/* Room sys/process: births, images and ends of processes and threads, signals, and calls by which a process asks about
 * itself and its host.
 *
 * A new process or thread is announced to the server before it is made, so that the server decides on the order. May
 * call sys/time, sys/ipc, sys/numa, sys/rsg, strace, turn and below.
 */
#ifndef SIMUNIX_SYS_PROCESS_H
#define SIMUNIX_SYS_PROCESS_H

#include "shim/core/core.h"

/* The server's answer about a child that is about to be made. */
struct announced {
    int64_t number; /* the number of the child, or -errno */
    uint64_t seed;
    uint32_t slot;
    int64_t pooled_channel;
    int channel; /* the place of the channel's descriptor; -1: the one in the pool, which an ended thread has left */
    bool is_traced;
    int64_t next_charge; /* in a replay: see PARK_CHARGE */
};

/* forked.c */
void forked_start(struct call *call, const struct announced *born, bool shares_files, bool is_nested);

/* namespace.c */
#define NAMESPACES_PREPARED (CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWTIME)
bool namespace_prepare(struct thread *thread, uint64_t flags);
void namespace_network_entered(struct thread *thread, bool is_new);

/* clone_entry.S */
long trap_clone(struct clone_args *args, size_t size, struct thread *child);

/* thread_start.c */
void trap_thread_started(struct thread *thread);

/* exit.c */
long sys_exit(struct call *call);

/* ptrace.c */
long tracees_wait(struct call *call, long pid, long options, int *status);

/* children.c */
void usage_of_child(const struct call *call, long pid, void *usage);

/* scheduling.c */
void rseq_forget(void);
long nice_shown(const struct process *process, long nice);
long sys_sched_getaffinity(struct call *call);

/* Clear the CPU time and other numbers of the real computer in a struct rusage. Only the greatest size is reported. */
static inline void usage_forget(void *usage)
{
    int64_t *fields = usage;

    for (int i = 0; i < 18; i++)
        if (i != 4)
            fields[i] = 0;
}

#endif
