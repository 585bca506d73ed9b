/* What the rooms keep for each process: struct process (core.h) embeds one of these for each room, which alone changes it. */
#ifndef SIMUNIX_PROCESS_PARTS_H
#define SIMUNIX_PROCESS_PARTS_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

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
