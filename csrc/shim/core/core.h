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
#include "shim/core/thread_parts.h"

#define NEVER (-1L)
#define SECOND_NS 1000000000L
#define OWN_STACK_BYTES 40960

/* The record of one emulated thread: core's own fields, and a part for each room (folder of csrc/shim) that stores
 * something for a thread (thread_parts.h). A comment that begins with rooms or files names those that change the field
 * besides core and what makes and ends records: entry/init.c and sys/process/clone.c, exec.c, exit.c, forked.c,
 * thread_start.c (tests/contract/test_c_records.py).
 *
 * The GS base points here; clone_entry.S, guard.S and site_entry.S know the offsets of the first members, up to
 * own_stack.
 */
struct thread {
    struct thread *self;
    struct start_registers start;
    uint64_t guard; /* sys/signal, turn: the stack pointer to return to if a fault ends the running handler of a call; 0:
                     * there is none */
    struct process *process;
    uint8_t *own_stack;  /* the stack on which the kernel enters the shim, of OWN_STACK_BYTES */
    struct thread *next; /* in the list of dying or free records */
    bool is_main;
    struct thread_ids ids;           /* pids */
    struct thread_link link;         /* turn */
    struct thread_strace strace;     /* strace */
    struct thread_birth birth;       /* sys/process */
    struct thread_end end;           /* sys/process */
    struct thread_kept kept;         /* sys/process */
    struct thread_in_call in_call;   /* entry, turn, sys/rsg */
    struct thread_park park;         /* turn */
    struct thread_pace pace;         /* turn */
    struct thread_spin spin;         /* sys/time, sys/io/touched.c */
    struct thread_policy policy;     /* turn, entry/calibrate.c */
    struct charge_account charge;    /* turn */
    struct handoff_wait handoff;     /* turn */
    struct tracee tracee;            /* turn, sys/signal/send.c */
    struct thread_signals signals;   /* sys/signal, turn/tracee.c */
    struct thread_delivery delivery; /* sys/signal/mask.c */
    struct thread_seccomp seccomp;   /* sys/process/seccomp.c */
    unsigned cpu;                    /* sys/process/scheduling.c: the first processor that it may use */
    uint32_t wakes;                  /* sys/ipc/futex_wait.c: how often it has woken others at a futex */
    uint64_t faults;                 /* sys/io/touched.c: page faults at its last look at mapped files */
    uint8_t buffer[SIMUNIX_MESSAGE_MAX];
};

/* Whether the process has mapped the boxes of Remote SimGrid, its memory for requests (sys/rsg/box.c). */
enum boxes_state { BOXES_UNKNOWN, BOXES_MAPPED, BOXES_REFUSED };

/* The record of one emulated process, divided like struct thread (process_parts.h). A vfork-like child in the same
 * memory has a record of its own. site_entry.S knows the offset of traps.all. */
struct process {
    struct simunix_clock_page *page;
    struct process_traps traps;     /* turn/tracee.c, sys/process/seccomp.c */
    struct process_seccomp seccomp; /* sys/process/seccomp.c */
    struct thread *main;            /* the thread that the kernel prefers for signals to the whole process */
    struct thread *dying;
    struct thread *free;
    uint64_t random_state;
    uint32_t flags; /* entry/trap_places.c: HELLO_FLAG_ */
    char shim_path[256];
    struct process_ids ids;                 /* pids */
    struct process_descriptors descriptors; /* sys/process/limits.c */
    struct process_space space;             /* sys/process */
    struct process_host host;               /* sys/file/statfs.c */
    struct process_handoffs handoffs;       /* turn, sys/ipc/futex2.c */
    struct process_cpu cpu;                 /* turn, entry/preempt.c */
    struct process_mappings mappings;       /* sys/file/mmap.c, sys/ipc/sysv.c, entry/addresses.c */
    struct process_signals signals;         /* sys/signal */
    struct process_strace strace;           /* strace */
    struct process_cgroups cgroups;         /* sys/cgroup */
    struct process_watches watches;         /* sys/poll */
    struct process_numa numa;               /* sys/numa */
    struct process_storage storage;         /* sys/io, sys/procfs/stored_mounts.c */
    enum boxes_state boxes;                 /* sys/rsg */
    bool tsc_faults;                        /* sys/time: the application wants its reads of the time stamp counter to fault */
    bool has_signalfd;                      /* sys/io */
    bool has_random_files;                  /* sys/file/random.c: the process has opened /dev/urandom */
    bool has_own_files;                     /* sys/procfs: the process has opened a file whose text sys/procfs writes */
    uint16_t waiters[WAITER_SLOTS];         /* sys/ipc/futex_key.c: the number of threads that wait at futexes, by hash of the
                                     * word's address */
};

/* One intercepted system call. `context` is NULL if the call came through a preloaded function of libc, not by a trap. */
struct call {
    long number;
    long a[6];
    struct ucontext *context;
    struct thread *thread;
    uint64_t mask_before;  /* the thread's signal mask, if there is no context that has it */
    uint64_t mask;         /* the signals that are blocked while the call waits: the application's own mask, or a temporary
                            * one */
    struct trace *trace;   /* the line of the trace that is being written, if the thread is traced */
    uint64_t had_woken;    /* the value of may_have_woken in the clock page before the call */
    int error;             /* not 0: the errno with which the call fails although it has been carried out (sys/io/storage.c) */
    bool is_interruptible; /* handlers of signals may run before the call returns, so no lock or record of the shim may be
                            * in use */
    bool temporary_mask;   /* `mask` is for this call only (ppoll, sigsuspend …) */
};

typedef long (*call_handler)(struct call *call);

/* Make the system call in the real kernel, with the application's arguments. */
static inline long call_natively(const struct call *call)
{
    return syscall6(call->number, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4], call->a[5]);
}

/* Return whether a pointer is NULL or near it, or no user address at all. Other bad pointers are found by the kernel,
 * or by a fault. */
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
