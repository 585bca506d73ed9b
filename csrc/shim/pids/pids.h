/* Room shim/pids: numbers of processes and threads where a program is in a PID namespace within its host's.
 *
 * The kernel numbers processes anew in each namespace. The server knows each process by its number in the host's own
 * namespace. A program writes and reads the numbers of its own namespace. The shim translates them into the host's for
 * the server, and back for the program. Outside of such a namespace both numbers are equal, and the translation costs
 * one comparison. See pid_namespaces(7). May call core. */
#ifndef SIMUNIX_PIDS_H
#define SIMUNIX_PIDS_H

#include "shim/core/core.h"

#define NO_PID 0x7fffffff /* the number of no process, for a process that has no number in the namespace in question */

static inline bool pids_are_nested(const struct process *process)
{
    return process->ids.reaper != 0;
}

/* numbers.c */
long pid_by_kernel(const struct process *process, long number);
long pid_shown_by_kernel(const struct process *process, long number);
long pid_of_pidfd(const struct process *process, int fd, long *host_number);
long group_by_kernel(const struct process *process, long group);

/* own.c */
bool proc_keep(struct process *process);
void pids_of_process(struct thread *thread, bool is_nested);
void pids_of_thread(struct thread *thread);
bool births_are_nested(const struct process *process);
long proc_number_told(const struct process *process, long number);

/* Return the host's number of a process or thread, for the server. */
static inline long pid_told(const struct process *process, long number)
{
    return pids_are_nested(process) && number > 0 ? pid_by_kernel(process, number) : number;
}

/* Return the host's number for one that kill(2) or wait4(2) takes: below -1 it names a process group. */
static inline long target_told(const struct process *process, long number)
{
    return !pids_are_nested(process) || number == 0 || number == -1 ? number
           : number < 0                                             ? -group_by_kernel(process, -number)
                                                                    : pid_by_kernel(process, number);
}

/* Return the number in the caller's namespace of a process or thread that the server has named. */
static inline long pid_shown(const struct process *process, long number)
{
    return pids_are_nested(process) && number > 0 ? pid_shown_by_kernel(process, number) : number;
}

#endif
