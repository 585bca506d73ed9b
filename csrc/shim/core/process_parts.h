/* The parts of struct process (core.h): one struct for each room (folder of csrc/shim), which alone changes it. */
#ifndef SIMUNIX_PROCESS_PARTS_H
#define SIMUNIX_PROCESS_PARTS_H

#include "shared/kernel.h"
#include "shared/protocol.h"

struct filter;
struct thread;

#define SHARED_RANGES_MAX 32
#define WAITER_SLOTS 256
#define WATCHED_TERMINALS_MAX 64
#define EXCLUSIVE_LISTENERS_MAX 8
#define STORED_MOUNTS_MAX 16

/* An epoll instance of the application, and the master of a terminal that it watches. */
struct watched_terminal {
    int epoll;
    int master;
    uint64_t data; /* the data that epoll_wait returns to the application with the master's events */
};

/* An epoll instance of the application, and what it watches with EPOLLEXCLUSIVE: a listening internet socket, or a file of the
 * kernel (a pipe, an eventfd, an AF_UNIX socket). */
struct exclusive_listener {
    int epoll;
    int fd;
    int64_t socket; /* the number of the socket, or of the file */
    bool is_file;
    uint64_t data; /* the data that epoll_wait returns to the application with the object's events */
};

/* A mount of the host whose files are on a modelled storage (sys/procfs/stored_mounts.c). */
struct stored_mount {
    uint64_t mount;   /* the kernel's number of the mount */
    uint64_t storage; /* the server's number of the storage */
    uint64_t flags;
};
/* Properties of a mount's storage: it has a capacity; the host's page cache stores its files; it belongs to a file server. */
enum { STORED_LIMITED = 1, STORED_CACHED = 2, STORED_REMOTE = 4 };

/* Which calls of the process must trap, and whether the shim's own handlers receive the traps (turn/tracee.c). */
struct process_traps {
    bool all;           /* every call of the process must trap, since it is traced, or has filters (sys/process/seccomp.c) */
    bool is_tracee;     /* a thread of the process is or was traced: the shim has its own handlers of traps, and all calls
                         * are trapped */
    void (*take)(void); /* entry/hot_site.c: make those calls trap that do not */
};

/* The filters of system calls that one thread has set for all threads (sys/process/seccomp.c). */
struct process_seccomp {
    struct filter *filters;
    unsigned synced; /* how often a thread has set filters for all */
};

/* The numbers of the process, and where it looks numbers up (pids). */
struct process_ids {
    int pid;
    int host_pid; /* its pid in the host's PID namespace, by which the server knows it */
    int reaper;   /* the first process of this process's own PID namespace, by the host's number; 0: this process is in
                   * the host's namespace */
    int proc;     /* a descriptor of the host's /proc, if the process may lose sight of it; 0 before */
};

/* The table of descriptors (core/files). */
struct process_descriptors {
    uint64_t soft; /* RLIMIT_NOFILE as the application sees it */
    uint64_t hard;
    int floor;       /* the shim's own descriptors have this number or higher ones, the application's have lower ones */
    int page_file;   /* place of the descriptor of the shared memory, which every later program of the process inherits */
    bool are_shared; /* the descriptors are or were shared with another process, so the floor does not move */
};

/* The memory in which the process runs (sys/process/clone.c). */
struct process_space {
    int64_t number; /* not 0: the number of the memory that the process shares with other processes (clone(2), CLONE_VM) */
    bool is_guest;  /* the process runs in the memory of its creator, and the creator goes on running as well */
};

/* The facts about the host that the server has told the process (entry/init.c). */
struct process_host {
    int cpus;
    uint64_t memory_bytes;
    uint64_t disk_bytes; /* 0: not known yet */
    char name[65];
    char files[512]; /* folder of the host's own files; "" if namespaces show them */
};

/* The threads that other threads of the process may wake without the server (core/message/handoff_list.c, turn/handoff.c). */
struct process_handoffs {
    struct thread *parked;      /* in the order in which they began to wait */
    struct thread *ready;       /* those that other threads have woken */
    unsigned count;             /* the number of threads in both lists */
    unsigned waiters_elsewhere; /* threads at a private futex that only the server may wake */
    bool has_news;              /* the server does not know the present state of these two lists */
};

/* The computing of the process so far (turn). */
struct process_cpu {
    uint64_t computed_ns;           /* the virtual time that the computing of the process has taken */
    uint64_t scale;                 /* the CPU time on its host that corresponds to a nanosecond of this computer, in units
                                     * of 2^-32 */
    struct simunix_cpu_cost *costs; /* the costs of the process's program; NULL: none are known */
};

struct shared_range {
    uint64_t start;
    uint64_t end;
};

/* The memory of the process (sys/file/mmap.c): its break, and what it shares with other processes, where a futex is not
 * private. */
struct process_mappings {
    uint64_t break_start, break_end; /* the break, if the shim keeps it; 0: the kernel keeps the break (entry/addresses.c) */
    uint64_t kernel_break;           /* the kernel's break when it was last moved */
    bool shared_overflow;            /* more memory is shared than `shared` has room for */
    int shared_count;
    struct shared_range shared[SHARED_RANGES_MAX];
};

/* The actions for signals (sys/signal), and which signals the server expects without a message (core/signals.c). */
struct process_signals {
    struct kernel_sigaction actions[65]; /* the actions that the application sees, for signals whose action in the
                                          * kernel is the shim's own */
    bool hears_kernel;                   /* the server knows that the kernel may send the process signals by itself */
    bool hears_terminal;                 /* the server knows that a terminal may send the process signals */
};

/* The facts about the process that the room strace needs (strace). */
struct process_strace {
    void *handlers[65];      /* the application's own handlers, by signal, while the process is traced */
    uint64_t plain_handlers; /* a mask of the signals whose handlers do not ask for siginfo */
    bool writes_by_server;   /* the server writes its traces, because the process's files may not grow (RLIMIT_FSIZE) */
};

/* The facts about its host's cgroups that a process has stored (sys/cgroup). */
struct process_cgroups {
    uint64_t device;  /* the device number of the file system with the cgroups; 0: there is none */
    bool are_used;    /* the process has opened control files, or its host has made groups */
    uint64_t text;    /* the inode of the control file whose text the process has fetched last */
    uint64_t text_at; /* the numbers of messages and turns at that time, and the virtual time */
    uint64_t text_ns;
    uint64_t text_lasts_ns; /* for how long the text is valid while no other thread has the turn */
    uint64_t home;          /* the inode of cgroup.procs of the group into which the process has moved itself */
    uint64_t home_at;       /* the value of page->cgroup_moves when the process moved itself */
    uint64_t memory_step;   /* by how many bytes the process's memory may grow before its group counts it; 0: the group
                             * does not count memory */
    uint64_t memory_grown;  /* by how many bytes the memory has grown since it was counted */
};

/* The objects in epoll instances of a process for which the kernel's reports are not enough (sys/poll). */
struct process_watches {
    int terminal_count;
    struct watched_terminal terminals[WATCHED_TERMINALS_MAX];
    int exclusive_count;
    struct exclusive_listener exclusives[EXCLUSIVE_LISTENERS_MAX];
};

/* NUMA nodes of the host, and the memory that has a policy of its own (sys/numa). */
struct process_numa {
    int count;                   /* the number of nodes; 0: not asked yet (sys/numa/nodes.c) */
    int cores;                   /* the number of cores, which are divided among the nodes */
    struct memory_ranges *bound; /* NULL: no memory has a policy of its own */
};

/* The files of the process that are on modelled storages (sys/io, sys/procfs/stored_mounts.c). */
struct process_storage {
    unsigned count; /* the number of mounts on storages; 0: no read or write of the process takes time */
    uint64_t flags; /* the flags of all these mounts together */
    struct stored_mount mounts[STORED_MOUNTS_MAX];
    struct mapped_files *mapped;                   /* NULL: none is mapped (sys/io/mapped.h) */
    void (*look_at_mapped)(struct thread *thread); /* called before a clock is read; NULL if `mapped` is */
    int store_watch; /* 1 + the place of the watch for stores to shared mappings of these files; 0: none yet, -1: there can
                      * be none */
};

#endif
