/* What the rooms keep for each process: struct process (core.h) embeds one of these for each room, which alone changes it. */
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
    uint64_t data; /* what the application is told of the master's events */
};

/* An epoll instance of the application, and what it watches with EPOLLEXCLUSIVE: a listening internet socket, or a file of the
 * kernel (a pipe, an eventfd, an AF_UNIX socket). */
struct exclusive_listener {
    int epoll;
    int fd;
    int64_t socket; /* or the file's number */
    bool is_file;
    uint64_t data; /* what the application is told of its events */
};

/* A mount of the host whose files are kept on a storage (sys/procfs/stored_mounts.c). */
struct stored_mount {
    uint64_t mount;   /* the kernel's number of it */
    uint64_t storage; /* the server's number of its storage */
    uint64_t flags;
};
/* The storage has a capacity; the host's page cache holds the files; they are a file server's. */
enum { STORED_LIMITED = 1, STORED_CACHED = 2, STORED_REMOTE = 4 };

/* Which of its calls are to trap, and whose traps they are (turn/tracee.c). */
struct process_traps {
    bool all;           /* every call of it: it is a tracee, or has filters (sys/process/seccomp.c) */
    bool is_tracee;     /* a thread of it is, or was, traced: its own handlers of traps are the shim's, its calls are trapped */
    void (*take)(void); /* entry/hot_site.c: have the calls trap that do not */
};

/* Filters of system calls that one thread has given all (sys/process/seccomp.c). */
struct process_seccomp {
    struct filter *filters;
    unsigned synced; /* for the n-th time */
};

/* Its numbers, and where it looks them up (pids). */
struct process_ids {
    int pid;
    int host_pid; /* the same in its host's PID namespace, by which the server knows it */
    int reaper;   /* in a PID namespace within the host's: that one's process 1, by the host's number; 0: in the host's */
    int proc;     /* the host's /proc, once the process may lose sight of it; 0 before */
};

/* The table of descriptors (core/files). */
struct process_descriptors {
    uint64_t soft; /* RLIMIT_NOFILE, as the application believes it */
    uint64_t hard;
    int floor;       /* the shim's own descriptors are at or above this, the application's below */
    int page_file;   /* place of the shared page's file, which every image inherits */
    bool are_shared; /* with another process, or once were: the floor stays where it is */
};

/* Whose memory it is in (sys/process/clone.c). */
struct process_space {
    int64_t number; /* not 0: of the memory that it shares with other processes (clone(2), CLONE_VM) */
    bool is_guest;  /* in the memory of its creator, which goes on */
};

/* What the server has told of its host (entry/init.c). */
struct process_host {
    int cpus;
    uint64_t memory_bytes;
    uint64_t disk_bytes; /* 0: not known yet */
    char name[65];
    char files[512]; /* folder of the host's own files, "" where namespaces show them */
};

/* Threads that others of the process may wake without the server (core/message/handoff_list.c, turn/handoff.c). */
struct process_handoffs {
    struct thread *parked;      /* in the order in which they began to wait */
    struct thread *ready;       /* those that others have woken */
    unsigned count;             /* of both */
    unsigned waiters_elsewhere; /* threads at a private futex that only the server may wake */
    bool has_news;              /* what the server does not know of these two lists */
};

/* What it has computed (turn). */
struct process_cpu {
    uint64_t computed_ns;           /* virtual time that computing has taken */
    uint64_t scale;                 /* CPU time on its host for a nanosecond of this computer, in 2^-32 */
    struct simunix_cpu_cost *costs; /* of its program; NULL: none */
};

struct shared_range {
    uint64_t start;
    uint64_t end;
};

/* Its memory (sys/file/mmap.c): the break, and what it shares with other processes, where a futex is no private one. */
struct process_mappings {
    uint64_t break_start, break_end; /* of the break that the shim keeps; 0: the kernel's (entry/addresses.c) */
    uint64_t kernel_break;           /* the kernel's break when it was last moved */
    bool shared_overflow;            /* more is shared than `shared` has room for */
    int shared_count;
    struct shared_range shared[SHARED_RANGES_MAX];
};

/* Its actions (sys/signal), and which signals the server knows to come without it (core/signals.c). */
struct process_signals {
    struct kernel_sigaction actions[65]; /* what the application believes that it has installed, where that is the shim's */
    bool hears_kernel;                   /* the server knows that the kernel may send it signals by itself */
    bool hears_terminal;                 /* … and that a terminal does so */
};

/* What strace shows of it (strace). */
struct process_strace {
    void *handlers[65];      /* the application's own, by signal, while the process is traced */
    uint64_t plain_handlers; /* those of them that do not ask for siginfo */
    bool writes_by_server;   /* its files may not grow as they like (RLIMIT_FSIZE): the server writes its traces */
};

/* What a process knows of its host's cgroups (sys/cgroup). */
struct process_cgroups {
    uint64_t device;  /* of the file system that they are in; 0: none */
    bool are_used;    /* the process has opened control files, or its host has made groups */
    uint64_t text;    /* inode of the control file whose text it has brought last */
    uint64_t text_at; /* messages and turns until then, and the time */
    uint64_t text_ns;
    uint64_t text_lasts_ns; /* for how long it holds if nobody else has the turn */
    uint64_t home;          /* inode of cgroup.procs of the group that it has moved itself into */
    uint64_t home_at;       /* page->cgroup_moves since then */
    uint64_t memory_step;   /* bytes by which its memory may grow before its group counts it; 0: that does not count it */
    uint64_t memory_grown;  /* since it was counted */
};

/* What the epoll instances of a process watch that the kernel does not tell as it should (sys/poll). */
struct process_watches {
    int terminal_count;
    struct watched_terminal terminals[WATCHED_TERMINALS_MAX];
    int exclusive_count;
    struct exclusive_listener exclusives[EXCLUSIVE_LISTENERS_MAX];
};

/* NUMA nodes of the host, and the memory that has a policy of its own (sys/numa). */
struct process_numa {
    int count;                   /* of nodes; 0: not asked yet (sys/numa/nodes.c) */
    int cores;                   /* among which these are divided */
    struct memory_ranges *bound; /* NULL: none */
};

/* Files of the process that are kept on storages (sys/io, sys/procfs/stored_mounts.c). */
struct process_storage {
    unsigned count; /* of mounts; 0: nothing that the process reads or writes takes time */
    uint64_t flags; /* of all of them together */
    struct stored_mount mounts[STORED_MOUNTS_MAX];
    struct mapped_files *mapped;                   /* NULL: none (sys/io/mapped.h) */
    void (*look_at_mapped)(struct thread *thread); /* before a clock is read; NULL with `mapped` */
    int store_watch; /* 1 + the place of what sees stores to shared ones of these, 0: none yet, -1: there is none */
};

#endif
