/* Room core: the records of the process, its threads and one intercepted call, and what needs no turn.
 *
 * Owns the records, the shim's own descriptors, the channel to the server (channel.h), the shared clock page (clock.h), bytes
 * and texts (memory.h). May call csrc/shared only. Never waits for virtual time: whatever gives the turn back is in shim/turn.
 */
#ifndef SIMUNIX_CORE_H
#define SIMUNIX_CORE_H

#include "shared/kernel.h"
#include "shared/protocol.h"
#include "shim/core/process_parts.h"

#define NEVER (-1L)
#define SECOND_NS 1000000000L
#define SHARED_RANGES_MAX 32
#define WAITER_SLOTS 256
#define OWN_STACK_BYTES 40960

/* Registers to start a thread with, in the order in which sys/process/clone_entry.S restores them. */
struct start_registers {
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rcx, rip;
    uint32_t mxcsr;
    uint32_t fpu_control;
    uint64_t rsp; /* 0: the stack that the kernel was given for it */
};

struct process;
struct filter;

/* How a handler of the application is entered: offsets in sys/signal/frame_entry.S. */
struct handler_entry {
    uint64_t stack_pointer; /* at its frame */
    void *handler;
    uint64_t mask;
    uint64_t signal;
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

struct trace_stop;

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

/* One emulated thread. The GS base points here; clone_entry.S and guard.S know the offsets of the first three members. */
struct thread {
    struct thread *self;
    struct start_registers start;
    uint64_t guard; /* stack pointer to go back to where a fault ends the running handler, 0: none */
    struct process *process;
    uint8_t *own_stack;  /* the kernel enters the shim here: OWN_STACK_BYTES */
    struct thread *next; /* in the list of dying or free records */
    int channel;         /* place (core/files/descriptors.c) of its SEQPACKET socket to the server */
    int epoll;           /* place of its private epoll, -1 until it first waits for a descriptor */
    int trace;           /* place of the file for strace_call, -1 if the thread is not traced */
    int tid;
    int host_tid;                   /* the same in its host's PID namespace, by which the server knows it (shim/pids) */
    bool births_nest;               /* its next process will be in another PID namespace than it is */
    bool is_nested;                 /* a new process in a PID namespace within its host's */
    bool has_network;               /* a new process in a network namespace of its own, which the server does not know yet */
    int alive_word;                 /* cleared by the kernel when the thread has really gone */
    uint64_t start_mask;            /* signal mask to start with */
    uint32_t wakes;                 /* how often it has woken others at a futex */
    bool looks_for_stops;           /* something in this call may have made a signal deliverable that stops the process */
    bool acts;                      /* in a call that may make others ready, which it may do after having waited */
    uint64_t asked;                 /* clock reads and calls since it last waited for something */
    uint64_t asked_at_tsc;          /* the same, at its last reading of the time stamp counter */
    uint64_t spins_since_ns;        /* when it began to do nothing but read that */
    uint64_t short_sleeps;          /* one after the other */
    uint64_t births;                /* children and new images since it last slept */
    uint64_t hasty_births;          /* processes, each as soon as the last one had ended */
    uint64_t born_ns;               /* when it made the last of these */
    uint64_t looks;                 /* polls in vain since it last waited, or found something */
    uint64_t late_state;            /* of its draws in a perturbed run (turn/lateness.c); 0: none yet */
    bool pays_cpu;                  /* its CPU time passes in virtual time, since it only computes and reads the clock */
    bool is_charged;                /* what it computes passes in virtual time: the CPU policy of its process */
    struct simunix_cpu_cost *costs; /* of its program, or of threads of its name there; NULL: none */
    bool is_measured;               /* … and is measured (charged), not foretold (modelled) */
    uint64_t cpu_paid_ns;           /* CPU time that it has paid for then */
    uint32_t *join_word;            /* the application's CLONE_CHILD_CLEARTID word, cleared once alive_word is */
    bool is_main;
    bool shares_files;      /* a new process with the descriptors of its creator (CLONE_FILES) */
    bool has_waited;        /* it has given the turn back since it entered the shim */
    bool has_turn;          /* what it says is said in its turn; a new thread's first word is not */
    bool is_told_at_slot;   /* the answer to its last message comes at its slot */
    bool owes_hello;        /* the server does not know the process yet */
    bool starts_known;      /* it is to know the process before its first turn */
    uint32_t slot;          /* where it waits; 0: the server's slots are used up, and its channel is where it waits */
    int64_t pooled_channel; /* number of its channel and epoll in the process's pool, for a later thread; 0: not pooled */
    struct process
        *copy;         /* the record of the process for which it was last the thread of a vfork-like child; kept for the next */
    void *environment; /* such a child's last list of variables for an exec, and its size; kept as well */
    size_t environment_size;
    stack_t alternate;    /* the application's alternate stack; its size 0: none */
    uint64_t hidden_mask; /* signals that the application believes to be blocked: SIGSYS, SIGSEGV */
    uint64_t held;        /* those of them that were sent meanwhile */
    siginfo_t held_infos[2];
    struct handler_entry entry;
    bool is_parked;       /* it has given the turn back in a call, and not gone on yet */
    uint64_t parked_mask; /* what it blocks meanwhile */
    unsigned cpu;         /* the first processor that it may use */
    uint64_t faults;      /* page faults at its last look at mapped files */
    uint64_t handed;      /* signals that other threads of the process have left to it: signals_take_handed */
    struct handoff_wait handoff;
    struct filter *filters; /* of system calls (sys/process/seccomp.c), the last one first; NULL: none */
    unsigned filters_synced;
    bool is_strict; /* seccomp(2), SECCOMP_SET_MODE_STRICT */
    struct tracee tracee;
    struct charge_account charge;
    uint8_t buffer[SIMUNIX_MESSAGE_MAX];
};

struct shared_range {
    uint64_t start;
    uint64_t end;
};

/* Whether the process has mapped the boxes of Remote SimGrid (sys/rsg/box.c). */
enum boxes_state { BOXES_UNKNOWN, BOXES_MAPPED, BOXES_REFUSED };

/* One emulated process; a vfork-like child in the same memory has its own copy. */
struct process {
    struct simunix_clock_page *page;
    bool traps_all; /* every call of it is to trap: it is a tracee, or has filters (sys/process/seccomp.c) */
    bool is_tracee; /* a thread of it is, or was, traced: its own handlers of traps are the shim's, its calls are trapped */
    struct filter *filters; /* that one thread has given all, for the n-th time */
    unsigned filters_synced;
    struct thread *main; /* whom the kernel prefers for signals of the whole process */
    struct thread *dying;
    struct thread *free;
    struct thread *parked;      /* threads that others of the process may wake, in the order in which they began to wait */
    struct thread *ready;       /* threads that others of the process have woken */
    unsigned handoff_count;     /* how many threads are in these two lists */
    unsigned waiters_elsewhere; /* threads at a private futex that only the server may wake */
    bool has_handoff_news;      /* what the server does not know of these two lists */
    uint64_t random_state;
    uint64_t disk_bytes;             /* of the host; 0: not known yet */
    uint64_t break_start, break_end; /* of the break that the shim keeps; 0: the kernel's (csrc/shim/entry/addresses.c) */
    uint64_t computed_ns;            /* virtual time that computing has taken */
    uint64_t cpu_scale;              /* CPU time on its host for a nanosecond of this computer, in 2^-32 */
    struct simunix_cpu_cost *costs;  /* of its program; NULL: none */
    uint64_t nofile_soft;
    uint64_t nofile_hard;
    uint64_t memory_bytes;
    int cpus;
    int descriptor_floor; /* the shim's own descriptors are at or above this, the application's below */
    int page_file;        /* place of the shared page's file, which every image inherits */
    uint32_t flags;
    int64_t memory;    /* not 0: the number of the memory that it shares with other processes (clone(2), CLONE_VM) */
    bool is_guest;     /* in the memory of its creator, which goes on */
    bool shares_files; /* it shares its table of descriptors with another process, or once did: the floor stays where it is */
    int pid;
    int host_pid; /* the same in its host's PID namespace, by which the server knows it (shim/pids) */
    int reaper;   /* in a PID namespace within the host's: that one's process 1, by the host's number; 0: in the host's */
    int proc;     /* the host's /proc, once the process may lose sight of it; 0 before */
    uint64_t memory_break; /* the kernel's break when it was last moved */
    struct process_cgroups cgroups;
    struct process_watches watches;
    struct process_numa numa;
    struct process_storage storage;
    enum boxes_state boxes;
    bool has_signalfd;
    bool has_random_files; /* it has opened /dev/urandom */
    bool has_own_files;    /* it has opened what sys/procfs writes */
    bool hears_kernel;     /* the server knows that the kernel may send it signals by itself */
    bool hears_terminal;   /* … and that a terminal does so */
    bool shared_overflow;
    int shared_count;
    struct shared_range shared[SHARED_RANGES_MAX];
    struct kernel_sigaction actions[65]; /* what the application believes that it has installed, where that is the shim's */
    void (*take_traps)(void);            /* entry/hot_site.c */
    bool tsc_faults;                     /* the application wants its readings of the time stamp counter to fault */
    void *handlers[65];                  /* the application's own, by signal, while the process is traced */
    bool traces_by_server;               /* its files may not grow as they like (RLIMIT_FSIZE): the server writes its traces */
    uint64_t plain_handlers;             /* those of them that do not ask for siginfo */
    uint16_t waiters[WAITER_SLOTS];      /* parked futex waiters by hash of the word's address */
    char host_name[65];
    char shim_path[256];
    char files[512]; /* folder of the host's own files, "" where namespaces show them */
};

/* One intercepted system call. `context` is NULL when it came through the preload net. */
struct call {
    long number;
    long a[6];
    struct ucontext *context;
    struct thread *thread;
    uint64_t mask_before;  /* of the thread, where there is no context to keep it */
    uint64_t mask;         /* signals blocked while it waits: the application's own mask, or a temporary one */
    struct trace *trace;   /* the line being written, while the thread is traced */
    uint64_t had_woken;    /* may_have_woken of the clock page before the call */
    int error;             /* not 0: what the call fails with although it has been done (sys/io/storage.c) */
    bool is_interruptible; /* handlers of signals may run before it returns: nothing of the shim's may be touched */
    bool temporary_mask;   /* `mask` holds for this call only (ppoll, sigsuspend …) */
};

typedef long (*call_handler)(struct call *call);

/* The call as the application has made it. */
static inline long call_natively(const struct call *call)
{
    return syscall6(call->number, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4], call->a[5]);
}

/* NULL and its neighbours, and what no user address is. What else is bad, the kernel finds or a fault tells. */
static inline bool is_bad_pointer(const void *pointer)
{
    return (uint64_t)pointer < 4096 || (uint64_t)pointer >> 47 != 0;
}

/* threads.c */
void set_thread_pointer(struct thread *thread);
struct thread *thread_new(struct process *process, int64_t pooled_channel, int channel);
void thread_release(struct thread *thread);
void threads_reap(struct process *process);
void thread_use_own_stack(const struct thread *thread);
static inline struct thread *current_thread(void)
{
    struct thread *thread;

    __asm__ volatile("movq %%gs:0, %0" : "=r"(thread));
    return thread;
}

/* trap_range.c */
void trap_arm(void);
bool trap_is_own_text(uint64_t address);

/* files/descriptors.c */
uint64_t descriptors_hard(void);
void descriptors_raise(void);
void descriptors_limit(const struct process *process);
int descriptor_number(const struct process *process, int place);
void descriptor_note(int number);
int descriptor_hide(const struct process *process, int fd);
bool descriptor_is_ours(const struct call *call, long fd);
long descriptor_is_free(const struct call *call);
void descriptors_close_others(const struct process *process, int place);

/* files/floor.c */
bool descriptors_reach(struct call *call, uint64_t wanted);
bool descriptors_grow(struct call *call);

/* guard.S */
long guarded_call(long (*work)(void *argument), void *argument);
void guard_fault(void);

/* diagnostic.c */
_Noreturn void fatal(const char *what, const char *detail, int64_t number);

/* warning.c */
void warn_once(struct thread *thread, enum simunix_warning kind, const char *what, const char *detail);

/* files/host_files.c */
const char *host_file(const struct process *process, const char *path, char *text, size_t size);

/* files/procfs.c */
long proc_open(const char *path);
long proc_open_for(const char *path, int flags);
long proc_open_numbered(const char *folder, int fd);
long proc_open_again(int fd, int flags);
bool proc_name_of(long fd, char *name, size_t room);

/* random.c */
uint64_t random_mix(uint64_t state);
uint64_t random_next(struct process *process);

/* signals.c, signal_restorer.S */
enum interruption { INTERRUPT_NONE, INTERRUPT_CALL, INTERRUPT_RESTART };
enum interruption signals_check(struct call *call);
void signals_from_kernel(struct call *call, int fd);
void signals_temporary_mask(struct call *call, const uint64_t *mask);
uint64_t signals_strip(uint64_t mask);
bool signals_are_ours(int signal);
void signals_note_sender(struct process *process, int signal, int code, int sender);
bool signals_is_ignored(const struct call *call, int signal);
bool signals_default_stops(int signal);
bool signals_default_ignores(int signal);
void signals_announce_stop(struct thread *thread, int signal, long pid);
void signals_stop(struct thread *thread, int signal);
bool signals_hand_to_main(struct thread *thread, int signal);
void signals_take_handed(struct thread *thread);
void signals_stop_if_due(struct thread *thread, uint64_t mask);
void signal_restorer(void);
void mask_restorer(void);

/* handoff_list.c */
void handoff_append(struct thread **list, struct thread *thread);
void handoff_take(struct thread **list, const struct thread *thread);
void handoff_remove(struct thread *thread);
unsigned handoff_news(struct simunix_handoff *news, unsigned count, unsigned most, struct thread *list);
void handoff_forget(struct process *process);

#endif
