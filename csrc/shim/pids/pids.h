/* Room shim/pids: numbers of processes and threads where a program is in a PID namespace within its host's.
 *
 * The kernel numbers processes anew in each namespace; the server knows each by its number in the host's own. What a program
 * says and reads are the numbers of its namespace; they are told to the server as the host's, and what the server tells is
 * shown as those of the namespace. Outside of such a namespace both are one, and cost a comparison. See pid_namespaces(7). May
 * call core.
 */
#ifndef SIMUNIX_PIDS_H
#define SIMUNIX_PIDS_H

#include "shim/core/core.h"

#define NO_PID 0x7fffffff /* of no process: what has no number in the namespace in question */

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

/* The host's number of a process or thread, for the server. */
static inline long pid_told(const struct process *process, long number)
{
    return pids_are_nested(process) && number > 0 ? pid_by_kernel(process, number) : number;
}

/* Translate a number that kill(2) or wait4(2) takes: one below -1 names a process group, whose number is translated. */
static inline long target_told(const struct process *process, long number)
{
    return !pids_are_nested(process) || number == 0 || number == -1 ? number
           : number < 0                                             ? -group_by_kernel(process, -number)
                                                                    : pid_by_kernel(process, number);
}

/* The number in the caller's namespace of what the server has named. */
static inline long pid_shown(const struct process *process, long number)
{
    return pids_are_nested(process) && number > 0 ? pid_shown_by_kernel(process, number) : number;
}

#endif
