/* What the rooms keep for each thread: struct thread (core.h) embeds one of these for each room, which alone changes it. */
#ifndef SIMUNIX_THREAD_PARTS_H
#define SIMUNIX_THREAD_PARTS_H

#include "shared/kernel.h"
#include "shared/protocol.h"

struct filter;
struct process;
struct thread;
struct trace_stop;

/* Registers to start a thread with, in the order in which sys/process/clone_entry.S restores them. */
struct start_registers {
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rcx, rip;
    uint32_t mxcsr;
    uint32_t fpu_control;
    uint64_t rsp; /* 0: the stack that the kernel was given for it */
};

/* Its numbers in the process's PID namespace and in the host's, by which the server knows it (pids). */
struct thread_ids {
    int tid;
    int host_tid;
};

/* How it talks with the server (core/message). */
struct thread_link {
    int channel;            /* place (core/files/descriptors.c) of its SEQPACKET socket to the server */
    int epoll;              /* place of its private epoll, -1 until it first waits for a descriptor */
    int64_t pooled_channel; /* number of these two in the process's pool, for a later thread; 0: not pooled */
    uint32_t slot;          /* where it waits; 0: the server's slots are used up, and its channel is where it waits */
    bool has_turn;          /* what it says is said in its turn; a new thread's first word is not */
    bool is_told_at_slot;   /* the answer to its last message comes at its slot */
    bool owes_hello;        /* the server does not know the process yet */
};

/* Its file for strace (strace). */
struct thread_strace {
    int file; /* place of the file for strace_call, -1 if the thread is not traced */
};

/* What a new thread, or the first one of a new process, begins with, and what its children will (sys/process). */
struct thread_birth {
    uint64_t mask;     /* signal mask to start with */
    bool next_nests;   /* its next process will be in another PID namespace than it is */
    bool is_nested;    /* a new process in a PID namespace within its host's */
    bool has_network;  /* a new process in a network namespace of its own, which the server does not know yet */
    bool shares_files; /* a new process with the descriptors of its creator (CLONE_FILES) */
    bool starts_known; /* the server is to know the process before its first turn */
};

/* How others learn that it has ended (sys/process/exit.c, core/threads.c). */
struct thread_end {
    int alive_word;      /* cleared by the kernel when the thread has really gone */
    uint32_t *join_word; /* the application's CLONE_CHILD_CLEARTID word, cleared once alive_word is */
};

/* What a record keeps from owner to owner (sys/process). */
struct thread_kept {
    struct process *copy; /* the record of the process for which it was last the thread of a vfork-like child */
    void *environment;    /* such a child's last list of variables for an exec, and its size */
    size_t environment_size;
};

/* The call that it is in (entry/dispatch.c). */
struct thread_in_call {
    bool acts;       /* it may make others ready, which it may do after having waited */
    bool has_waited; /* it has given the turn back since it entered the shim */
};

/* It has given the turn back in a call, and not gone on yet (turn/park.c). */
struct thread_park {
    bool is_parked;
    uint64_t mask; /* what it blocks meanwhile */
};

/* What it does without waiting, which takes virtual time by price (turn/price.c, turn/call_price.c, turn/lateness.c). */
struct thread_pace {
    uint64_t asked;        /* clock reads and calls since it last waited for something */
    uint64_t looks;        /* polls in vain since it last waited, or found something */
    uint64_t births;       /* children and new images since it last slept */
    uint64_t hasty_births; /* processes, each as soon as the last one had ended */
    uint64_t born_ns;      /* when it made the last of these */
    uint64_t late_state;   /* of its draws in a perturbed run; 0: none yet */
    bool pays_cpu;         /* its CPU time passes in virtual time, since it only computes and reads the clock */
    uint64_t cpu_paid_ns;  /* CPU time that it has paid for then */
};

/* What it does only to let time pass (sys/time). */
struct thread_spin {
    uint64_t asked_at_tsc; /* pace.asked at its last reading of the time stamp counter */
    uint64_t since_ns;     /* when it began to do nothing but read that */
    uint64_t short_sleeps; /* one after the other */
};

/* The CPU policy of its process (turn/cpu_charge.c, turn/cpu_costs.c). */
struct thread_policy {
    bool is_charged;                /* what it computes passes in virtual time */
    bool is_measured;               /* … and is measured (charged), not foretold (modelled) */
    struct simunix_cpu_cost *costs; /* of its program, or of threads of its name there; NULL: none */
};

/* What a thread under the CPU policy charged has computed and not been charged for yet (turn/cpu_charge.c). */
struct charge_account {
    uint64_t cycles_since; /* the time stamp counter at the beginning of this turn, or when it was last looked at */
    uint64_t overhead_since;
    uint64_t waited_ns; /* paid_ns when the thread last waited */
    uint64_t now_since;
    uint64_t cycles; /* of former turns */
    int64_t overhead_ns;
    int64_t priced_ns; /* virtual time that has passed by the prices of calls */
    uint64_t cpu_ns;   /* its CPU clock, when that was last asked */
    int64_t unpaid_ns;
    int64_t noted_ns;   /* what has been added to the table of costs since this was last settled */
    int64_t rest_ns;    /* of the last charge: what has not passed yet, as PARK_CHARGE_REST says */
    uint64_t paid_ns;   /* all charges and prices, in CPU time of its host */
    uint64_t untold_ns; /* prices of which the server does not know yet */
    uint64_t points;    /* calls and clock reads since the last charge */
    int64_t next;       /* as PARK_CHARGE's reply says: in a replay when the next charge is due; less than 0: the slice */
};

/* Whether other threads of the process may wake a waiting thread without the server (turn/handoff.c). */
enum handoff_state { HANDOFF_NONE, HANDOFF_WAITS, HANDOFF_READY };

/* What a thread waits for while others of its process may wake it: the arguments of PARK. */
struct handoff_wait {
    struct thread *next; /* in the list of waiting threads, or of ready ones */
    enum handoff_state state;
    bool is_news;     /* the server does not know yet */
    bool is_doubtful; /* the server may have woken it since */
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
    bool stops_at_calls; /* PTRACE_SYSCALL */
    bool steps;          /* PTRACE_SINGLESTEP */
    bool has_moved;      /* the tracer has sent it elsewhere, out of the call that it is in */
    uint8_t due;         /* the signal that it is to stop with, 0: none */
    uint64_t let_in;     /* pending signals that the tracer has seen */
    struct trace_stop *stop;
    uint64_t debug[8];   /* the debug registers that the tracer believes in (turn/watchpoints.c) */
    uint64_t watched[4]; /* what was there last */
};

/* How a handler of the application is entered: offsets in sys/signal/frame_entry.S. */
struct handler_entry {
    uint64_t stack_pointer; /* at its frame */
    void *handler;
    uint64_t mask;
    uint64_t signal;
};

/* What the kernel is not told of its signals (sys/signal). */
struct thread_signals {
    stack_t alternate;    /* the application's alternate stack; its size 0: none */
    uint64_t hidden_mask; /* signals that the application believes to be blocked: SIGSYS, SIGSEGV */
    uint64_t held;        /* those of them that were sent meanwhile */
    siginfo_t held_infos[2];
    struct handler_entry entry;
};

/* Signals that are to be looked at before it goes on (core/signals.c). */
struct thread_delivery {
    uint64_t handed;      /* signals that other threads of the process have left to it: signals_take_handed */
    bool looks_for_stops; /* something in this call may have made a signal deliverable that stops the process */
};

/* Its filters of system calls (sys/process/seccomp.c). */
struct thread_seccomp {
    struct filter *filters; /* the last one first; NULL: none */
    unsigned synced;
    bool is_strict; /* seccomp(2), SECCOMP_SET_MODE_STRICT */
};

#endif
