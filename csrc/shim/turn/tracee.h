/* A thread that an emulated process traces (ptrace(2)), and the record of its stop, which the tracer reads in the
 * thread's memory. */
#ifndef SIMUNIX_TRACEE_H
#define SIMUNIX_TRACEE_H

#include "shim/core/core.h"

/* The registers in struct user_regs_struct, by name. */
enum user_register {
    USER_R15,
    USER_R14,
    USER_R13,
    USER_R12,
    USER_RBP,
    USER_RBX,
    USER_R11,
    USER_R10,
    USER_R9,
    USER_R8,
    USER_RAX,
    USER_RCX,
    USER_RDX,
    USER_RSI,
    USER_RDI,
    USER_ORIG_RAX,
    USER_RIP,
    USER_CS,
    USER_EFLAGS,
    USER_RSP,
    USER_SS,
    USER_FS_BASE,
    USER_GS_BASE,
    USER_DS,
    USER_ES,
    USER_FS,
    USER_GS,
    USER_REGISTERS
};

/* The record of one stop, on the stack of the thread that has stopped. */
struct trace_stop {
    int64_t kind; /* a value of enum simunix_stop */
    int64_t value;
    int64_t message; /* the value that PTRACE_GETEVENTMSG returns */
    int64_t number;  /* the system call of the thread; -1: the thread is in no call */
    int64_t result;  /* the value that the tracer finds in rax, if the thread is in a system call */
    int signal;      /* the signal with which the tracer has let the thread go on */
    uint64_t registers[USER_REGISTERS];
    uint64_t state; /* address of the saved floating-point state, laid out as in a signal frame */
    uint64_t debug; /* address of the debug registers */
    siginfo_t info;
};

/* tracee.c */
void tracee_begin(struct thread *thread);
void tracee_stop(struct thread *thread, struct trace_stop *stop, struct ucontext *context);
void tracee_stop_here(struct thread *thread, struct ucontext *context);
void tracee_look(struct thread *thread);
bool tracee_take_signals(struct thread *thread, uint64_t mask, struct ucontext *context, long number);
void tracee_event(struct call *call, int event, int64_t message);
void tracee_exec(struct thread *thread);
bool tracee_fault(struct thread *thread, int signal, const siginfo_t *info, struct ucontext *context);
bool tracee_enters_call(struct call *call, long *result);
void tracee_leaves_call(struct call *call, long result);

/* watchpoints.c */
enum watch_kind { WATCH_EXECUTION = 0, WATCH_WRITE = 1 };
bool watchpoints_are_set(const struct thread *thread);
void watchpoints_begin(struct thread *thread);
bool watchpoints_hit(struct thread *thread, uint64_t next);

#endif
