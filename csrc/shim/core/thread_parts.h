/* The parts of struct thread (core.h): one struct for each room (folder of csrc/shim), which alone changes it. */
#ifndef SIMUNIX_THREAD_PARTS_H
#define SIMUNIX_THREAD_PARTS_H

#include "shared/kernel.h"
#include "shared/protocol.h"

struct filter;
struct process;
struct thread;
struct trace_stop;

/* The registers with which a thread starts, in the order in which sys/process/clone_entry.S restores them. */
struct start_registers {
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rcx, rip;
    uint32_t mxcsr;
    uint32_t fpu_control;
    uint64_t rsp; /* 0: the stack that clone(2) has passed to the kernel */
};

/* The numbers of the thread in its process's PID namespace, and in the host's, by which the server knows it (pids). */
struct thread_ids {
    int tid;
    int host_tid;
};

/* The connection of the thread to the server (core/message). */
struct thread_link {
    int channel;            /* place (core/files/descriptors.c) of the descriptor of its SEQPACKET socket to the server */
    int epoll;              /* place of the descriptor of its private epoll; -1 until it first waits for a descriptor */
    int64_t pooled_channel; /* the number of channel and epoll in the process's pool, for a later thread; 0: they are
                             * not in the pool */
    uint32_t slot;          /* the slot at which the thread waits; 0: all slots are in use, and the thread waits at its
                             * channel */
    bool has_turn;          /* the thread has the turn when it sends messages; this is not so for the first message of a
                             * new thread */
    bool is_told_at_slot;   /* the answer to its last message comes at its slot */
    bool owes_hello;        /* the thread must send HELLO, because the server does not know the process yet */
};

/* The file to which the thread's calls are traced (strace). */
struct thread_strace {
    int file; /* place of that file's descriptor, for strace_call; -1: the thread is not traced */
};

/* How a new thread, or the first thread of a new process, begins, and how its children will begin (sys/process). */
struct thread_birth {
    uint64_t mask;     /* signal mask to start with */
    bool next_nests;   /* the next process that the thread makes will be in another PID namespace */
    bool is_nested;    /* a new process in a PID namespace that is not the host's own */
    bool has_network;  /* a new process in its own network namespace, which the server does not know yet */
    bool shares_files; /* a new process that shares its creator's descriptors (CLONE_FILES) */
    bool starts_known; /* the server must know the process before its first turn */
};

/* How other threads learn that this thread has ended (sys/process/exit.c, core/threads.c). */
struct thread_end {
    int alive_word;      /* cleared by the kernel when the thread has really ended */
    uint32_t *join_word; /* the application's CLONE_CHILD_CLEARTID word, which is cleared when alive_word is */
};

/* The fields that a record keeps when it is used for another thread (sys/process). */
struct thread_kept {
    struct process *copy; /* the record of the process of which the thread was last a vfork-like child */
    void *environment;    /* the last list of variables that such a child has passed to an exec, and its size */
    size_t environment_size;
};

/* The state of the call that the thread is in (entry/dispatch.c). */
struct thread_in_call {
    bool acts;       /* the call may make other threads ready, perhaps only after it has waited */
    bool has_waited; /* the thread has given the turn back since it entered the shim */
};

/* The state of a thread that has given the turn back in a call, and has not gone on yet (turn/park.c). */
struct thread_park {
    bool is_parked;
    uint64_t mask; /* the signals that it blocks meanwhile */
};

/* Counts of what a thread does without waiting, which takes virtual time by prices (turn/price.c, turn/call_price.c,
 * turn/lateness.c). */
struct thread_pace {
    uint64_t asked;        /* the number of clock reads and calls since the thread last waited for something */
    uint64_t looks;        /* the number of polls without result since the thread last waited, or since a poll found
                            * something */
    uint64_t births;       /* the number of new processes and programs since the thread last slept */
    uint64_t hasty_births; /* the number of processes that the thread has made in a row, each as soon as the process
                            * before had ended */
    uint64_t born_ns;      /* the virtual time at which the thread made the last process of that row */
    uint64_t late_state;   /* the state of the thread's random numbers in a perturbed run; 0: there is none yet */
    bool pays_cpu;         /* the thread's CPU time passes in virtual time, since the thread only computes and reads the
                            * clock */
    uint64_t cpu_paid_ns;  /* the CPU time of the thread that has passed in virtual time for this reason */
};

/* Actions of a thread that only let time pass (sys/time). */
struct thread_spin {
    uint64_t asked_at_tsc; /* the value of pace.asked when the thread last read the time stamp counter */
    uint64_t since_ns;     /* the virtual time since which the thread only reads that counter */
    uint64_t short_sleeps; /* the number of short sleeps, one after the other */
};

/* The CPU policy of the thread's process (turn/cpu_charge.c, turn/cpu_costs.c). */
struct thread_policy {
    bool is_charged;                /* the computing of the thread takes virtual time */
    bool is_measured;               /* the time of computing is measured (charged), not read from a table (modelled) */
    struct simunix_cpu_cost *costs; /* the costs of the thread's program, or of the program's threads with this thread's
                                     * name; NULL: none are known */
};

/* The computing of a thread under the CPU policy charged for which it has not been charged yet (turn/cpu_charge.c). */
struct charge_account {
    uint64_t cycles_since; /* the value of the time stamp counter at the beginning of this turn, or when the shim last
                            * read it */
    uint64_t overhead_since;
    uint64_t waited_ns; /* the value of paid_ns when the thread last waited */
    uint64_t now_since;
    uint64_t cycles; /* the cycles of earlier turns */
    int64_t overhead_ns;
    int64_t priced_ns; /* the virtual time that has passed for the prices of calls */
    uint64_t cpu_ns;   /* the thread's CPU clock when it was last read */
    int64_t unpaid_ns;
    int64_t noted_ns;   /* the time that was added to the table of costs since the last reading of the CPU clock */
    int64_t rest_ns;    /* the part of the last charge that has not passed yet, as PARK_CHARGE_REST says */
    uint64_t paid_ns;   /* all charges and prices, as CPU time of its host */
    uint64_t untold_ns; /* the prices of calls that the server does not know yet */
    uint64_t points;    /* the number of calls and clock reads since the last charge */
    int64_t next;       /* as the reply to PARK_CHARGE: in a replay, when the next charge is due; below 0: minus the time
                         * slice */
};

/* Whether other threads of the process may wake a waiting thread without the server (turn/handoff.c). */
enum handoff_state { HANDOFF_NONE, HANDOFF_WAITS, HANDOFF_READY };

/* The arguments of PARK of a thread that other threads of its process may wake. */
struct handoff_wait {
    struct thread *next; /* the next one in the list of waiting threads, or of ready threads */
    enum handoff_state state;
    bool is_news;     /* the server does not know yet */
    bool is_doubtful; /* the server may have woken the thread in the meantime */
    int16_t wait;
    int32_t syscall;
    int32_t wake;
    int64_t deadline;
    uint64_t blocked;
    uint64_t word;
    uint64_t bitset;
};

/* A thread and the emulated process that traces it (turn/tracee.c). */
struct tracee {
    bool is_traced;
    bool stops_at_calls; /* PTRACE_SYSCALL: the thread stops at the entry and exit of each call */
    bool steps;          /* PTRACE_SINGLESTEP: the thread stops after each instruction */
    bool has_moved;      /* the tracer has set the address at which the thread goes on, and so ends the thread's present call */
    uint8_t due;         /* the signal with which the thread must stop; 0: none */
    uint64_t let_in;     /* the pending signals that the tracer has seen */
    struct trace_stop *stop;
    uint64_t debug[8];   /* the debug registers as the tracer sees them (turn/watchpoints.c) */
    uint64_t watched[4]; /* the last value at each watched address */
};

/* How a handler of the application is entered; sys/signal/frame_entry.S knows the offsets. */
struct handler_entry {
    uint64_t stack_pointer; /* the address of the handler's frame */
    void *handler;
    uint64_t mask;
    uint64_t signal;
};

/* The state of signals that the application sees and the kernel does not know (sys/signal). */
struct thread_signals {
    stack_t alternate;    /* the application's alternate stack; size 0: it has none */
    uint64_t hidden_mask; /* the signals among SIGSYS and SIGSEGV that the application sees as blocked */
    uint64_t held;        /* those of the blocked signals that were sent meanwhile */
    siginfo_t held_infos[2];
    struct handler_entry entry;
};

/* The signals at which the thread must look before it goes on (core/signals.c). */
struct thread_delivery {
    uint64_t handed;      /* the signals that other threads of the process have left to this one: signals_take_handed */
    bool looks_for_stops; /* something in this call may have made a signal deliverable that stops the process */
};

/* The thread's filters of system calls (sys/process/seccomp.c). */
struct thread_seccomp {
    struct filter *filters; /* the last filter first; NULL: there is none */
    unsigned synced;
    bool is_strict; /* seccomp(2), SECCOMP_SET_MODE_STRICT */
};

#endif
