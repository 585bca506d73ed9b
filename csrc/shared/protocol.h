/* The definitions that the shim and the server share: message numbers, layouts of structs, the clock page in shared memory.
 *
 * This file and the files of wire/ are the only copy of these definitions. The shim includes it; rsg_server reads it
 * through cffi
 * (csrc/build/), so it contains only enums, structs and integer defines. A message is one msgpack array. A message is
 * in the outbox (shared memory) if its sender has the turn and maps the shared memory, else in a datagram of a
 * SEQPACKET socket.
 *
 * Request: [op, arguments...]          shim -> server, always by the thread that holds the turn
 * Reply:   [status, values...]         server -> shim; status < 0 is a negative errno; receiving it means holding the turn
 *
 * An address is (family, bytes, port): family 4 or 6, 4 or 16 bytes in network order, port in host order. A key names a
 * futex word: (space, word). The space is 0 for the caller's own address space, a hash of device and inode for a mapped
 * file, or one of enum simunix_space. Times are nanoseconds of virtual time since the start of the simulation; -1 means
 * "never".
 */
#ifndef SIMUNIX_PROTOCOL_H
#define SIMUNIX_PROTOCOL_H

#include "shared/wire/cpu_protocol.h"
#include "shared/wire/file_protocol.h"
#include "shared/wire/outbox_protocol.h"
#include "shared/wire/rsg_protocol.h"
#include "shared/wire/socket_protocol.h"
#include "shared/wire/storage_protocol.h"

#include <stdint.h>

#define SIMUNIX_PROTOCOL_VERSION 1
#define SIMUNIX_QUANTUM_NS 1000000
/* The value that comes with WAKE_SIGNAL when a call fails with EINTR because its process was stopped and continued; the
 * server chooses these calls (rsg_server/process/signals.py). */
#define SIMUNIX_WAS_STOPPED 1
#define SIMUNIX_CLOCK_BYTES 4096
#define SIMUNIX_SLOTS_OFFSET 11534336
#define SIMUNIX_SLOTS 65536
#define SIMUNIX_TIMER_QUEUE_OFFSET 12582912
#define SIMUNIX_JOURNAL_MAX 4096
#define SIMUNIX_STREAMS_OFFSET 14680064
#define SIMUNIX_STREAMS 65536
#define SIMUNIX_SHARED_BYTES 14958592
#define SIMUNIX_TRAP_PLACES 16384
#define SIMUNIX_SHARED_WAITERS 512
#define SIMUNIX_DEVICE_WORDS 32

/* Messages are rows of a table (messages.def), from which their numbers, and how many fields each has, are generated. */
#define GROUP(title)
#define MESSAGE(name, number, shape, fields, reply, meaning) OP_##name = number,
enum simunix_op {
#include "tables/messages.def"
};
#undef MESSAGE
#define MESSAGE(name, number, shape, fields, reply, meaning) FIELDS_OF_OP_##name = sizeof(shape) - 1,
enum simunix_fields {
#include "tables/messages.def"
};
#undef MESSAGE
#undef GROUP

/* The places of the numbers in the answer to OP_HOST. */
enum simunix_host_figure { HOST_THREADS = 1, HOST_BIRTHS, HOST_LATEST_PID, HOST_SEED, HOST_DISK, HOST_BOOTED };

/* The kind of actor that sends HELLO. A new thread sends HELLO only if it has no slot; otherwise its creator writes its
 * number into the slot. The child of a vfork that waits at its slot sends HELLO_LATE, which has no answer: before its
 * first other message, which most such children never send, or (FORK_VFORK_IN_ORDER) before its first turn. All numbers
 * of processes and threads are those of the host's PID namespace. If a process is in another PID namespace within that
 * one, it adds HELLO_REAPER times the number of that namespace's first process to the kind. */
enum simunix_hello { HELLO_NEW_IMAGE = 0, HELLO_FORKED = 1, HELLO_THREAD = 2, HELLO_LATE = 3, HELLO_REAPER = 8 };

/* The kind of child that FORK announces. After both kinds of vfork the caller sends no message until the child has
 * called exec or died. The child has the next turn, or (IN_ORDER) its turn after those that are ready. FORK_SIBLING is
 * added to another kind if the child's parent is to be the caller's parent. If the caller is traced, FORK_EVENT times
 * the event of ptrace(2) for this birth is added. */
enum simunix_fork {
    FORK_THREAD = 0,
    FORK_PROCESS = 1,
    FORK_VFORK = 2,
    FORK_VFORK_IN_ORDER = 3,
    FORK_SIBLING = 8,
    FORK_EVENT = 16
};

/* The kinds of waits: what a thread waits for that has given the turn back. (a, b, c) in the comments are the three
 * values of PARK. */
enum simunix_wait {
    PARK_TIME = 0,      /* for its deadline only */
    PARK_FD = 1,        /* for a descriptor in its private epoll: (one of the descriptors; how many there are, or with
                         * PARK_FD_EXCLUSIVE the listening socket; flags, and above their 8 bits the descriptor of the
                         * private epoll) */
    PARK_FUTEX = 2,     /* for a futex: (space, word, bitset; above bit 31 of the bitset a detail of some spaces) */
    PARK_CHILD = 3,     /* for a change of state of any of its children */
    PARK_SIGNAL = 4,    /* for a signal: (the signals that sigwait(3) waits for, 0, 0) */
    PARK_LOCK = 5,      /* for room in a descriptor or the like, for which the thread looks again at the deadline:
                         * (descriptor, 0, 0) */
    PARK_CONNECT = 6,   /* for the outcome of a connect: (number of the socket, 0, 0); the reply's value is 0 or -errno */
    PARK_YIELD = 7,     /* for a turn after all threads that can run now */
    PARK_VFORK = 8,     /* for the exec or the end of its vfork child: (number of the child, 0, 0) */
    PARK_PREEMPTED = 9, /* as PARK_YIELD, but the server has taken the turn back */
    /* for the end of an execution: (flops, 20 - nice, 0); the reply's value is the number of flops that are left */
    PARK_COMPUTE = 10,
    PARK_TRACED = 11, /* for its tracer: OP_TRACEE_STOPS */
    /* for the time to pass that the thread has computed since its last charge (CPU policy charged): (nanoseconds of CPU time;
     * bits of enum simunix_charge, and above them how many calls and clock reads it has made since; the nanoseconds
     * that have passed since for the prices of these, but before an exec the thread's CPU clock). The reply's value is
     * the thread's next charge in a recording: 0: there is none; else the nanoseconds above CHARGE_NS_SHIFT bits, below
     * them 1 + twice the number of calls and clock reads until then, 1 more if the turn was taken from the thread
     * there. Without a recording, and for a modelled program, the value is 0 or less: minus the nanoseconds for which
     * the thread may compute before it is charged, because others wait for its core; 0: no others do */
    PARK_CHARGE = 12,
    /* for the rest of the thread's last charge to pass, which it has learned by WAKE_REST: (0, 20 - nice, 0) */
    PARK_CHARGE_REST = 13,
    PARK_RSG = 20, /* for the answer to an operation of Remote SimGrid; only the server begins such a wait (OP_RSG) */
    /* for a storage of its host: (number of the storage, bytes, 1 for a write, 0 for a read; 2: for what OP_STORAGE has
     * asked); the reply's value is the number of bytes that have not moved, or -errno */
    PARK_STORAGE = 14
};
/* Flags of PARK_FD. TERMINAL: one of the descriptors is the master of a terminal. EXCLUSIVE: it is an epoll instance
 * that watches a listening socket with EPOLLEXCLUSIVE. LOOKED: the thread has just ignored that socket's connections,
 * which other threads are to accept. The next flag: the watched object is not such a socket but a file of the kernel,
 * whose number takes the place of the socket's. The last flag: the server has chosen this thread to handle the
 * readiness of the file. */
enum simunix_fd_flag { PARK_FD_TERMINAL = 1, PARK_FD_EXCLUSIVE = 2, PARK_FD_LOOKED = 4, PARK_FD_FILE = 8, PARK_FD_CHOSEN = 16 };

/* Spaces of futex words that are not in memory: a word in such a space is the number of a kernel object. */
enum simunix_space {
    /* the detail is twice the number of the semaphore in its set, plus 1 if the thread waits until it is zero */
    SPACE_SEMAPHORES = 1,
    SPACE_QUEUES = 2,
    SPACE_FIFOS = 3,
    /* the detail is the descriptor; the bitset is SIMUNIX_LOCK_WAITS (bit 31) and the pid of the process that has the
     * record lock, if it is known */
    SPACE_LOCKS = 4,
    SPACE_MANY = 5 /* the words that OP_FUTEX_WORDS has listed; the reply's value says which one was woken */
};
#define SIMUNIX_LOCK_WAITS 2147483648

/* The reasons for which a traced thread stops: a signal (its number is the value), the entry or the exit of a system
 * call, an event of ptrace(2) (its number is the value), the start of a new program. */
enum simunix_stop { STOP_SIGNAL = 0, STOP_ENTRY = 1, STOP_EXIT = 2, STOP_EVENT = 3, STOP_EXEC = 4 };

/* How a stopped traced thread goes on: with the signal in the lower 8 bits, and up to where. */
enum simunix_resume { RESUME_SYSCALL = 256, RESUME_STEP = 512, RESUME_DETACHED = 1024, RESUME_STOPS_AGAIN = 2048 };

/* An argument of OP_PTRACE in place of a request of ptrace(2): a process has sent a SIGSTOP to the traced thread. */
enum simunix_trace_request { PTRACE_STOPPED_BY_SIGNAL = -1 };

/* Why a waiting thread is woken. WAKE_ELSEWHERE: something is ready, but another thread was woken for the connections
 * of the listening socket. WAKE_REST: a timer or limit of CPU time has expired in the middle of a charge; the value is
 * the CPU time of the charge that has not passed yet. */
enum simunix_wake { WAKE_READY = 0, WAKE_TIMEOUT = 1, WAKE_SIGNAL = 2, WAKE_ELSEWHERE = 3, WAKE_REST = 4 };

/* The kinds of warnings. WARN_REAL: the further course of the run depends on this computer, so the run cannot be
 * repeated to the byte. */
enum simunix_warning { WARN_UNKNOWN_SYSCALL = 1, WARN_REFUSED = 2, WARN_ESCAPE = 3, WARN_FATAL = 4, WARN_REAL = 5 };

/* si_code of the SIGSYS that the server sends to a thread that computes without a call; and of the SIGSYS by which a
 * traced thread that is about to stop gets its own registers. */
enum simunix_signal_code { SIMUNIX_PREEMPT_CODE = -64, SIMUNIX_TRACE_CODE = -65 };

/* Flags of the reply to HELLO_NEW_IMAGE. */
enum simunix_hello_flags {
    /* user and group ids of the host differ from the kernel's (csrc/hostinit/containment/mounts.c) */
    HELLO_FLAG_CONTAINED = 4096,
    HELLO_FLAG_FAKE_NAME = 1,
    HELLO_FLAG_FAKE_GROUPS = 2,
    HELLO_FLAG_TRACE = 16,
    HELLO_FLAG_TRACE_STABLE = 32,
    HELLO_FLAG_CALIBRATES = 256, /* the process measures what calls cost under simunix (entry/calibrate.c) */
    HELLO_FLAG_CHARGED = 128,    /* the CPU time that the process's threads use passes in virtual time (turn/cpu_charge.c) */
    /* the CPU time that the table of costs has for the process's calls passes in virtual time (turn/cpu_costs.c) */
    HELLO_FLAG_MODELLED = 512,
    HELLO_FLAG_STORAGES = 1024,  /* some paths of its host are on modelled storages (shim/sys/io/storage.c) */
    HELLO_FLAG_POWER = 2048,     /* the process's host has files about its power (shim/sys/procfs/power_files.c) */
    HELLO_FLAG_LATE = 8192,      /* the process's timed waits end late, by random amounts (turn/lateness.c) */
    HELLO_FLAG_REBOOTED = 16384, /* the process's host has booted during the run; HOST_BOOTED says when */
    HELLO_FLAG_COUNT_TRAPS = 64  /* the table of struct simunix_trap_place follows the SIMUNIX_SHARED_BYTES of shared memory */
};

/* A slot: a futex at which one thread waits for its turn, and the reason and the value with which the wait has ended.
 * The slots are in shared memory at SIMUNIX_SLOTS_OFFSET, one for each thread; the first stays empty. */
struct simunix_slot {
    uint32_t word; /* a futex, with a value of enum simunix_slot_word */
    int32_t wake;
    int64_t value; /* before the first turn of a thread: its number in its process's PID namespace */
};
enum simunix_slot_word { SLOT_WAITS = 0, SLOT_ANSWERED = 1 };

/* The deadline of a thread that other threads, also of other processes, may let come. Deadlines of one moment come in
 * the order in which they were set. */
struct simunix_alarm {
    int64_t deadline;
    uint64_t sequence;
    uint32_t slot;
    uint32_t unused;
};

/* The timer queue: the deadlines of all threads that wait for the clock, or at a futex of their own process
 * (timer_queue.c), in a heap with the earliest first. The timer queue also contains the journal, which lists how
 * threads have given the turn to other processes. The server reads the journal with the next message that reports such
 * hand-offs. */
struct simunix_timer_queue {
    uint32_t count;
    uint32_t journal_count;
    struct simunix_alarm alarms[SIMUNIX_SLOTS];
    uint32_t places[SIMUNIX_SLOTS]; /* for each slot: 1 more than the place of its deadline in the heap; 0: the slot has
                                     * no deadline */
    struct simunix_handoff journal[SIMUNIX_JOURNAL_MAX];
};

/* An instruction whose system calls were trapped, in a run that counts them; `count` 0: the entry is free.
 * SIMUNIX_TRAP_PLACES of these are a hash table. Only the thread that has the turn writes here. */
struct simunix_trap_place {
    uint64_t count;
    uint64_t inode;  /* device and inode of the file from which the instruction is mapped; 0: no file */
    uint64_t offset; /* the instruction's offset in that file */
    int32_t number;  /* number of the system call */
    uint32_t unused;
    char program[32]; /* file name of the program */
    char file[96];    /* end of the path of the mapped file */
};

/* The clock page: SIMUNIX_CLOCK_BYTES at the start of the shared memory. Only the thread that has the turn writes here.
 * After the page, up to SIMUNIX_SLOTS_OFFSET, the shims store times of files (shim/sys/file/times.c); then the slots
 * follow. */
struct simunix_clock_page {
    uint64_t now_ns;
    /* up to this moment only deadlines of the timer queue are due, and the thread that has the turn may set now_ns to
     * one of them; 0: it may not */
    uint64_t lookahead_ns;
    uint64_t event_ns;     /* an event is due at this moment: a thread that reads a later time gives the turn back */
    int64_t realtime_ns;   /* CLOCK_REALTIME is now_ns + this */
    int64_t monotonic_ns;  /* CLOCK_MONOTONIC and CLOCK_BOOTTIME are now_ns + this */
    uint64_t read_cost_ns; /* price of a clock read */
    uint64_t poll_cost_ns; /* price of a call that asks without waiting: zero timeouts, sched_yield */
    uint64_t call_cost_ns; /* price of every trapped system call, so that loops of calls come to an end */
    uint64_t preempt;      /* not 0: the SIGSYS that the server has sent makes the holder give the turn back */
    uint64_t local_sleeps; /* how many sleeps needed no message */
    uint64_t sequence;     /* sequence number of the last deadline in the timer queue, or event in the server's timeline */
    uint64_t due_ns;       /* the earliest deadline in the timer queue, with its sequence number and slot */
    uint64_t due_sequence;
    uint64_t due_slot;
    uint64_t remote_handoffs; /* not 0: a thread may give the turn to another process without the server */
    uint64_t doorbell;        /* rung after each message; the lower half is a futex */
    uint64_t listens;         /* not 0: the server sleeps at the doorbell, and must be woken */
    uint64_t handoffs;        /* how often threads have given the turn to each other without a message */
    uint64_t handoffs_digest; /* digest of all turns that threads have given each other */
    uint64_t siblings_ready;  /* how many threads wait for the turn to which another thread may give it */
    /* slot of the thread to which another thread has given the turn; 0: the thread that got the turn from the server
     * has it */
    uint64_t running;
    uint64_t clock_reads;
    uint64_t coarse_reads; /* how many of the clock reads were by time(2), or of a clock that counts in ticks */
    uint64_t traps;        /* system calls that reached the shim by a trap */
    uint64_t preloaded;    /* system calls that reached the shim through a preloaded function of libc */
    uint64_t messages;     /* messages from the shims to the server, without those of a process that has no shared page yet */
    /* threads that wait for a file lock; only if there are any, the server is told of released locks */
    uint64_t lock_waiters;
    /* POSIX message queues from which a process wants a signal; only if there are any, the server is told of messages
     * to queues */
    uint64_t queue_notifies;
    uint64_t may_have_woken; /* not 0: since this turn began, a call was made that may have made another thread ready */
    /* if a thread may have been woken, a thread that calls or reads the clock after this moment gives the turn back */
    uint64_t quantum_ns;
    /* the start of the run by the real clock: a file with a later time stamp of the kernel was made by the run */
    int64_t begun_ns;
    /* slot of a thread whose CPU time passes in virtual time because it only computes and reads the clock, and the CPU
     * time of its process when this began; 0: there is no such thread */
    uint64_t computing_slot;
    uint64_t computing_since_ns;
    int64_t nice;          /* nice value of the whole emulation, to which the nice values inside are added */
    uint64_t from_outside; /* mask of the signals for which a handler has run although no process of their host has sent them */
    /* storages that are read-only, full or failing; if there are any, a thread asks before it writes */
    uint64_t storage_conditions;
    uint64_t tracees;    /* threads that an emulated process traces (ptrace(2)) */
    uint64_t trace_news; /* how many of the traced threads must stop, and do not know it yet */
    /* for the CPU policy charged; unused under the policy free */
    /* cycles of the time stamp counter after which a thread reads its CPU clock, to see how much it has computed */
    uint64_t charge_least_cycles;
    uint64_t charge_least_ns; /* nanoseconds of CPU time after which a thread is charged */
    uint64_t tsc_ns;          /* length of a cycle of the time stamp counter, in nanoseconds / 2^32 */
    uint64_t replays_charges; /* enum simunix_replay: whether charges come from a recording */
    /* the CPU time (ns) that simunix adds to a trapped call, to a preloaded one, to a clock read, and in addition to a
     * coarse clock read (calibrate.c) */
    uint64_t trap_overhead_ns, preload_overhead_ns, read_overhead_ns, coarse_overhead_ns;
    /* not 0: threads wait with EPOLLEXCLUSIVE for files of the kernel, so that the server is told of each write (OP_LOOK) */
    uint64_t exclusive_files;
    /* for a perturbed run: by how much timed waits of a process with HELLO_FLAG_LATE end late on average, and in
     * addition those of a second and more; the seed of the random numbers */
    uint64_t late_ns, late_cycle_ns, late_seed;
    /* a thread that calls after this moment gives the turn back: the end of a turn in a run of `simunix explore` */
    uint64_t slice_ns;
    uint64_t version;
    /* how often a process has moved to another cgroup, or a cgroup has changed the controllers that it passes on */
    uint64_t cgroup_moves;
    uint64_t device_programs;                     /* how many cgroups have eBPF programs for devices (sys/device/programs.c) */
    uint64_t devices;                             /* files that stand for devices; if there are none, none is looked for */
    uint64_t device_inodes[SIMUNIX_DEVICE_WORDS]; /* a bit for the hash of the inode of each file that stands for a
                                                   * device (sys/device/device.c) */
    /* threads that wait at futex words in shared memory, by hash of the word's key; at 0, a wake needs no message */
    uint32_t shared_waiters[SIMUNIX_SHARED_WAITERS];
};

#endif
