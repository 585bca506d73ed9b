/* Room strace, as others see it: traces in strace's own format, at virtual times.
 *
 * Owns the trace files and the text in them. May call core and csrc/shared. Tracing takes no virtual time and makes no
 * thread ready, so a traced run has the same event log as an untraced one.
 */
#ifndef SIMUNIX_TRACING_H
#define SIMUNIX_TRACING_H

#include "shim/core/core.h"

struct strace_handler {
    void *handler;
    bool plain;
};

/* lines.c */
long strace_call(struct call *call, call_handler answer);
void strace_open(struct thread *thread);
void strace_limited(struct process *process);
void strace_began(struct thread *thread, const char *path, char **argv, char **environment);
void strace_waits(struct call *call);
void strace_interrupted(struct call *call);
void strace_replacing(struct call *call, int directory, const char *path);
/* handlers.c */
struct strace_handler strace_watch(struct thread *thread, int signal, struct kernel_sigaction *action);
void strace_hide(struct kernel_sigaction *told, struct strace_handler before);

#endif
