/* The wire between the shim and the server: message numbers, layouts, the shared clock page.
 *
 * This file, with those of wire/, is the only copy. The shim includes it; rsg_server reads it through cffi (csrc/build/), so it
 * holds nothing but enums, structs and integer defines. A message is one msgpack array: in the outbox if its sender has the
 * turn and maps the shared memory, else in a SEQPACKET datagram.
 *
 * Request: [op, arguments...]          shim -> server, always by the thread that holds the turn
 * Reply:   [status, values...]         server -> shim; status < 0 is a negative errno; receiving it means holding the turn
 *
 * An address is (family, bytes, port): family 4 or 6, 4 or 16 bytes in network order, port in host order.
 * A key names a futex word: (space, word); space 0 is the caller's own address space, else a device and inode mixed, or one of
 * enum simunix_space.
 * Times are nanoseconds of virtual time since the start of the simulation; -1 means "never".
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

/* The messages are rows of a table: their numbers, and how many fields they have. */
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

/* Where the figures stand in the answer to OP_HOST. */
enum simunix_host_figure { HOST_THREADS = 1, HOST_BIRTHS, HOST_LATEST_PID, HOST_SEED, HOST_DISK, HOST_BOOTED };

/* A new thread says hello only if it got no slot: otherwise its creator leaves its number in the slot. The child of a vfork
 * that waits at its slot says HELLO_LATE, which has no answer: before its first other message, which most such children never
 * send, or, IN_ORDER, before its first turn. All numbers of processes and threads are those of the host's own PID namespace. A
 * process in another one within that adds HELLO_REAPER times the number of that one's process 1 to the kind. */
enum simunix_hello { HELLO_NEW_IMAGE = 0, HELLO_FORKED = 1, HELLO_THREAD = 2, HELLO_LATE = 3, HELLO_REAPER = 8 };

/* After both kinds of vfork the caller is silent until the child has exec'd or died. The child has the next turn, or (IN_ORDER)
 * its turn after those who are ready. FORK_SIBLING is added to another kind: the child's parent is the caller's. So is
 * FORK_EVENT times the event of ptrace(2) that the birth is, if the caller is traced. */
enum simunix_fork {
    FORK_THREAD = 0,
    FORK_PROCESS = 1,
    FORK_VFORK = 2,
    FORK_VFORK_IN_ORDER = 3,
    FORK_SIBLING = 8,
    FORK_EVENT = 16
};

/* What a parked thread waits for; (a, b, c) in the comment. */
enum simunix_wait {
    PARK_TIME = 0,      /* only the deadline */
    PARK_FD = 1,        /* what is in its private epoll: (a descriptor, how many or with PARK_FD_EXCLUSIVE the listening
                          socket, flags; above its 8 bits the epoll's own descriptor) */
    PARK_FUTEX = 2,     /* (space, word, bitset; above its 32 bits a detail of some spaces) */
    PARK_CHILD = 3,     /* any of its children changing state */
    PARK_SIGNAL = 4,    /* a signal: (set waited for by sigwait, 0, 0) */
    PARK_LOCK = 5,      /* room, or the like, tried again at the deadline: (descriptor, 0, 0) */
    PARK_CONNECT = 6,   /* the outcome of a connect: (socket id, 0, 0); the reply's value is 0 or -errno */
    PARK_YIELD = 7,     /* behind all that are runnable now */
    PARK_VFORK = 8,     /* the child's exec or end: (child number, 0, 0) */
    PARK_PREEMPTED = 9, /* as PARK_YIELD, but the server took the turn back */
    PARK_COMPUTE = 10,  /* its computing: (flops, 20 - nice, 0); the reply's value is the flops that are left */
    PARK_TRACED = 11,   /* its tracer: OP_TRACEE_STOPS */
    /* that what it has computed since its last charge passes (CPU policy charged): (nanoseconds of CPU time; bits of enum
     * simunix_charge, and above them how many calls and clock reads it has made since; the nanoseconds that have passed since
     * by the prices of these, but before an exec its CPU clock). The reply's value is what a recording charges this thread
     * next: 0: nothing, or there is none; else the nanoseconds above CHARGE_NS_SHIFT bits, below them 1 + twice how many calls
     * and clock reads from now, 1 more if it was preempted there. Without a recording, or of a modelled program: less than 0:
     * how many nanoseconds it may compute before it is charged, as others wait for its core; 0: none do */
    PARK_CHARGE = 12,
    /* that the rest of its last charge passes, which was told with WAKE_REST: (0, 20 - nice, 0) */
    PARK_CHARGE_REST = 13,
    PARK_RSG = 20, /* an operation of Remote SimGrid: only the server parks a thread so (OP_RSG) */
    /* a storage of its host: (its number, bytes, 1 if it writes, else 0; 2: as OP_STORAGE has said); the reply's value is the
     * bytes that have not moved, or -errno */
    PARK_STORAGE = 14
};
/* Flags of PARK_FD: one of the descriptors is the master of a terminal; it is an epoll instance that watches a listening socket
 * with EPOLLEXCLUSIVE; the thread has just looked past that socket's connections, which are others' to accept; what is watched
 * so is no such socket but a file of the kernel, whose number stands in the socket's place; the server has chosen the thread
 * for its news. */
enum simunix_fd_flag { PARK_FD_TERMINAL = 1, PARK_FD_EXCLUSIVE = 2, PARK_FD_LOOKED = 4, PARK_FD_FILE = 8, PARK_FD_CHOSEN = 16 };

/* Futex spaces that are no memory: words in them are numbers of objects of the kernel. */
enum simunix_space {
    SPACE_SEMAPHORES = 1, /* detail: twice the semaphore's number, 1 more if it is to become zero */
    SPACE_QUEUES = 2,
    SPACE_FIFOS = 3,
    /* detail: the descriptor; bitset: SIMUNIX_LOCK_WAITS (bit 31) and the pid of a record lock's holder, if known */
    SPACE_LOCKS = 4,
    SPACE_MANY = 5 /* those of OP_FUTEX_WORDS; the reply's value says which was woken */
};
#define SIMUNIX_LOCK_WAITS 2147483648

/* Why a traced thread stops: with a signal (the value), at the entry or exit of a system call, with an event of ptrace(2) (the
 * value), at the start of a new image. */
enum simunix_stop { STOP_SIGNAL = 0, STOP_ENTRY = 1, STOP_EXIT = 2, STOP_EVENT = 3, STOP_EXEC = 4 };

/* How a traced thread goes on: with the signal in the lower 8 bits, and up to where. */
enum simunix_resume { RESUME_SYSCALL = 256, RESUME_STEP = 512, RESUME_DETACHED = 1024, RESUME_STOPS_AGAIN = 2048 };

/* In place of a request of ptrace(2): some process has sent a SIGSTOP to the tracee. */
enum simunix_trace_request { PTRACE_STOPPED_BY_SIGNAL = -1 };

/* WAKE_ELSEWHERE: something is ready, but another thread was woken for the connections of the wait's listening socket.
 * WAKE_REST: a timer or limit of CPU time has expired in the middle of a charge; the value is the CPU time of the charge that
 * has not passed. */
enum simunix_wake { WAKE_READY = 0, WAKE_TIMEOUT = 1, WAKE_SIGNAL = 2, WAKE_ELSEWHERE = 3, WAKE_REST = 4 };

/* WARN_REAL: what follows depends on this computer, so that the run cannot be repeated to the byte. */
enum simunix_warning { WARN_UNKNOWN_SYSCALL = 1, WARN_REFUSED = 2, WARN_ESCAPE = 3, WARN_FATAL = 4, WARN_REAL = 5 };

/* si_code of the SIGSYS that the server sends to a thread that computes on without a call, and of that by which a traced thread
 * that is about to stop gets to know its own registers. */
enum simunix_signal_code { SIMUNIX_PREEMPT_CODE = -64, SIMUNIX_TRACE_CODE = -65 };

/* flags of the reply to HELLO_NEW_IMAGE */
enum simunix_hello_flags {
    /* ids of its host are not the kernel's own (csrc/hostinit/containment/mounts.c) */
    HELLO_FLAG_CONTAINED = 4096,
    HELLO_FLAG_FAKE_NAME = 1,
    HELLO_FLAG_FAKE_GROUPS = 2,
    HELLO_FLAG_TRACE = 16,
    HELLO_FLAG_TRACE_STABLE = 32,
    HELLO_FLAG_CALIBRATES = 256, /* the image measures what calls cost under simunix (entry/calibrate.c) */
    HELLO_FLAG_CHARGED = 128,    /* what its threads compute passes in virtual time (turn/cpu_charge.c) */
    HELLO_FLAG_MODELLED = 512,   /* what is known that its calls come after passes in virtual time (turn/cpu_costs.c) */
    HELLO_FLAG_STORAGES = 1024,  /* paths of its host are kept on storages (shim/sys/io/storage.c) */
    HELLO_FLAG_POWER = 2048,     /* its host has files about power (shim/sys/procfs/power_files.c) */
    HELLO_FLAG_LATE = 8192,      /* its timed waits end late, by draws (turn/lateness.c) */
    HELLO_FLAG_REBOOTED = 16384, /* its host has booted during the run: HOST_BOOTED says when */
    HELLO_FLAG_COUNT_TRAPS = 64  /* the table of struct simunix_trap_place lies behind the SIMUNIX_SHARED_BYTES */
};

/* Where a parked thread waits, and what its wait has come to. One for each thread, in the shared memory at
 * SIMUNIX_SLOTS_OFFSET; the first stays empty. */
struct simunix_slot {
    uint32_t word; /* enum simunix_slot_word; a futex */
    int32_t wake;
    int64_t value; /* before a thread's first turn: its number, as its process has it */
};
enum simunix_slot_word { SLOT_WAITS = 0, SLOT_ANSWERED = 1 };

/* A deadline that siblings or strangers may let come: those of one moment in the order in which they were set. */
struct simunix_alarm {
    int64_t deadline;
    uint64_t sequence;
    uint32_t slot;
    uint32_t unused;
};

/* The deadlines of all threads that wait for the clock, or at a futex of their own process (timer_queue.c): a heap, the
 * earliest first. And the journal: what processes have handed the turn on to others with, for the server to read with the next
 * message that tells hand-offs. */
struct simunix_timer_queue {
    uint32_t count;
    uint32_t journal_count;
    struct simunix_alarm alarms[SIMUNIX_SLOTS];
    uint32_t places[SIMUNIX_SLOTS]; /* by slot: 1 more than the place in the heap, 0: not in it */
    struct simunix_handoff journal[SIMUNIX_JOURNAL_MAX];
};

/* An instruction whose system calls were trapped, in a run that counts them: SIMUNIX_TRAP_PLACES of these in a hash table. Only
 * the holder of the turn writes. `count` 0: free. */
struct simunix_trap_place {
    uint64_t count;
    uint64_t inode;  /* of the file that the instruction is mapped from, 0: none */
    uint64_t offset; /* in that file */
    int32_t number;  /* of the system call */
    uint32_t unused;
    char program[32]; /* name of the program's file */
    char file[96];    /* end of the path of the mapped file */
};

/* One page of SIMUNIX_CLOCK_BYTES, shared by the server and every emulated process. Only the holder of the turn writes. Behind
 * it, up to SIMUNIX_SLOTS_OFFSET, the shims keep the times of files (shim/sys/file/times.c), then come the slots. */
struct simunix_clock_page {
    uint64_t now_ns;
    /* before this nothing happens but what the timer queue says: the holder of the turn may set now_ns to a deadline
     * before it; 0 forbids it */
    uint64_t lookahead_ns;
    uint64_t event_ns;     /* something is due then: a clock reader that passes it yields */
    int64_t realtime_ns;   /* CLOCK_REALTIME = now_ns + this */
    int64_t monotonic_ns;  /* CLOCK_MONOTONIC and CLOCK_BOOTTIME = now_ns + this */
    uint64_t read_cost_ns; /* price of a clock read */
    uint64_t poll_cost_ns; /* price of a call that asks without waiting: zero timeouts, sched_yield */
    uint64_t call_cost_ns; /* price of every trapped system call, so that loops of calls come to an end */
    uint64_t preempt;      /* not 0: the SIGSYS that the server has sent makes the holder give the turn back */
    uint64_t local_sleeps; /* sleeps that needed no message */
    uint64_t sequence;     /* of whatever was put into the timer queue, or the server's own timeline */
    uint64_t due_ns;       /* the timer queue's earliest deadline, and its sequence number and slot */
    uint64_t due_sequence;
    uint64_t due_slot;
    uint64_t remote_handoffs; /* not 0: the turn may go to another process without the server */
    uint64_t doorbell;        /* rung after each message; its lower half is a futex */
    uint64_t listens;         /* not 0: the server sleeps at the doorbell, and has to be woken */
    uint64_t handoffs;        /* turns handed over without a message */
    uint64_t handoffs_digest; /* of all such turns */
    uint64_t siblings_ready;  /* some of these wait for the turn */
    /* slot of the thread that such a hand-off has given the turn to; 0: the holder has it from the server */
    uint64_t running;
    uint64_t clock_reads;
    uint64_t coarse_reads;   /* of these: by time(2), or of a clock that counts in ticks */
    uint64_t traps;          /* system calls that came through the trap net */
    uint64_t preloaded;      /* system calls that came through the preload net */
    uint64_t messages;       /* from the shims to the server, but for those of a process that has no shared page yet */
    uint64_t lock_waiters;   /* threads that wait for a file lock: only then is the server told of a released lock */
    uint64_t queue_notifies; /* POSIX message queues that a process wants a signal from: only then a send is told */
    uint64_t may_have_woken; /* since this turn began, something was called that may make another actor ready */
    uint64_t quantum_ns;     /* a clock reader or caller that passes it after what may have woken others yields */
    int64_t begun_ns;        /* when the run began, by the real clock: what the kernel has stamped since is of this run */
    /* slot of a thread that computes and reads the clock, and that process's CPU time when it began: its CPU time passes; 0:
     * none */
    uint64_t computing_slot;
    uint64_t computing_since_ns;
    int64_t nice;          /* of the whole emulation: what it calls nice is added to it */
    uint64_t from_outside; /* signals that handlers have been entered for and no process of their host has sent, as a mask */
    uint64_t storage_conditions; /* storages that are read-only, full or failing: before it writes, a thread asks */
    uint64_t tracees;            /* threads that an emulated process traces (ptrace(2)) */
    uint64_t trace_news;         /* some of these are to stop, and do not know yet */
    /* of the CPU policy charged, all unused under the free one */
    uint64_t charge_least_cycles; /* of the time stamp counter, before a thread asks its CPU clock how much it has computed */
    uint64_t charge_least_ns;     /* … and before it is charged */
    uint64_t tsc_ns;              /* a cycle of the time stamp counter, in nanoseconds / 2^32 */
    uint64_t replays_charges;     /* enum simunix_replay: whether charges come from a recording */
    /* what simunix adds to the CPU time of a trapped call, a preloaded one, a clock read, and more to a coarse one
     * (calibrate.c) */
    uint64_t trap_overhead_ns, preload_overhead_ns, read_overhead_ns, coarse_overhead_ns;
    uint64_t
        exclusive_files; /* not 0: threads wait by EPOLLEXCLUSIVE for files of the kernel: what is written is told (OP_LOOK) */
    /* of perturbed runs: by how much timed waits of an image with HELLO_FLAG_LATE end late on average, and those of a second
     * and more besides; what the draws begin with */
    uint64_t late_ns, late_cycle_ns, late_seed;
    uint64_t slice_ns; /* a caller that passes it yields: the end of a turn in a run that explores */
    uint64_t version;
    uint64_t cgroup_moves;                        /* of processes from cgroup to cgroup, and changes of what cgroups pass on */
    uint64_t device_programs;                     /* those that cgroups have (sys/device/programs.c) */
    uint64_t devices;                             /* files that stand for devices: without any, none is looked for */
    uint64_t device_inodes[SIMUNIX_DEVICE_WORDS]; /* a bit for the hash of each such file's inode (sys/device/device.c) */
    /* threads that wait at futex words in shared memory, by hash of the word's key: 0, and a wake needs no message */
    uint32_t shared_waiters[SIMUNIX_SHARED_WAITERS];
};

#endif
