/* What the shim's files share: the records of the process and of its threads, one intercepted call, and who offers what. */
#ifndef SIMUNIX_SHIM_H
#define SIMUNIX_SHIM_H

#include "kernel.h"
#include "msgpack.h"
#include "prctl_options.h"
#include "protocol.h"
#include "syscall_names.h"

#define NEVER (-1L)
#define SECOND_NS 1000000000L
#define SHARED_RANGES_MAX 32
#define WAITER_SLOTS 256

/* Registers to start a thread with, in the order that trap_entry.S restores them. */
struct start_registers {
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rcx, rip;
    uint32_t mxcsr;
    uint32_t fpu_control;
};

struct process;

/* Whether siblings may wake a thread that waits (handoff.c). */
enum stepping { STEP_NOT, STEP_PARKED, STEP_READY };

/* What a thread that siblings may wake waits for, as in PARK. */
struct stepper {
    struct thread *next; /* in the list of those that wait, or of those that are ready */
    enum stepping stepping;
    bool is_news;         /* the server does not know yet */
    int16_t wait;
    int32_t syscall;
    int32_t wake;
    int64_t deadline;
    uint64_t blocked;
    uint64_t word;
    uint64_t bitset;
};

/* One emulated thread. The GS base points here; trap_entry.S knows the offsets of the first two members. */
struct thread {
    struct thread *self;
    struct start_registers start;
    struct process *process;
    struct thread *next;    /* in the list of dying or free records */
    int channel;            /* its SEQPACKET socket to the server */
    int epoll;              /* its private epoll, -1 until it first waits for a descriptor */
    int trace;              /* file for strace_call, -1 if it is not traced */
    int tid;
    int alive_word;         /* cleared by the kernel when the thread has really gone */
    uint64_t start_mask;    /* signal mask to start with */
    uint32_t wakes;         /* how often it has woken others at a futex */
    bool looks_for_stops;   /* something in this call may have made a signal deliverable that stops us */
    bool acts;              /* in a call that may make others ready, which it may do after having waited */
    uint64_t asked;         /* clock reads and calls since it last waited for something */
    uint32_t *join_word;    /* the application's CLONE_CHILD_CLEARTID word, cleared once alive_word is */
    bool is_main;
    bool has_waited;        /* it has given the turn back since it entered the shim */
    bool has_turn;          /* what it says is said in its turn; a new thread's first word is not */
    uint32_t slot;          /* where it waits, 0: for a message */
    int64_t seat;           /* the server's name for its channel and epoll, which another thread may have after it; 0: no other may */
    struct stepper stepper;
    uint8_t buffer[SIMUNIX_MESSAGE_MAX];
};

struct shared_range {
    uint64_t start;
    uint64_t end;
};

/* One emulated process; a vfork-like child in the same memory has its own copy. */
struct process {
    struct simunix_clock_page *page;
    struct thread *dying;
    struct thread *free;
    struct thread *parked;  /* who waits and may be woken by siblings, in the order of coming */
    struct thread *ready;   /* whom siblings have woken */
    unsigned steppers;
    unsigned waiters_elsewhere; /* threads at a private futex that only the server may wake */
    bool has_stepped;       /* there is news for the server */
    uint64_t random_state;
    uint64_t nofile_soft;
    uint64_t nofile_hard;
    uint64_t memory_bytes;
    uint64_t affinity;
    int cpus;
    int descriptor_floor;
    uint32_t flags;
    int pid;
    int proc; /* /proc, once the process has changed its root; 0 before */
    bool has_signalfd;
    bool has_random_files; /* it has opened /dev/urandom */
    bool has_own_files; /* it has opened what proc_files.c writes */
    bool hears_kernel; /* the server knows that the kernel may send it signals by itself */
    bool shared_overflow;
    int shared_count;
    struct shared_range shared[SHARED_RANGES_MAX];
    struct kernel_sigaction sigsys; /* what the application believes it has installed */
    struct kernel_sigaction sigsegv;
    bool has_no_time_stamp; /* it wants its readings of the time stamp counter to fault */
    void *handlers[65];             /* the application's own, by signal, while the process is traced */
    bool traces_by_server;          /* its files may not grow as they like (RLIMIT_FSIZE): the server writes its traces */
    uint64_t plain_handlers;        /* those of them that do not ask for siginfo */
    uint16_t waiters[WAITER_SLOTS]; /* parked futex waiters by hash of the word's address */
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
    uint64_t mask_before; /* of the thread, where there is no context to keep it */
    uint64_t mask;       /* signals blocked while it waits: the application's own mask, or a temporary one */
    struct trace *trace; /* the line being written, while the thread is traced */
    bool temporary_mask; /* `mask` holds for this call only (ppoll, sigsuspend …) */
};

typedef long (*call_handler)(struct call *call);

/* dispatch.c */
long dispatch(struct call *call);
bool dispatch_passes_on(const struct call *call);
long dispatch_unknown(struct call *call, const char *what);

/* trap.c, trap_entry.S */
void trap_install(void);
void trap_arm(void);
bool trap_is_own_text(uint64_t address);
void trap_handler(int signal, siginfo_t *info, void *context);
void trap_restorer(void);
void trap_fault(void);
long trap_clone(struct clone_args *args, size_t size, struct thread *child);
void trap_thread_started(struct thread *thread);
_Noreturn void trap_thread_end(struct thread *thread);

/* preempt.c */
void preempted(struct thread *thread, const struct ucontext *context);

/* tsc.c */
void time_stamp_start(struct process *process);
void time_stamp_trap(struct process *process);
void time_stamp_release(struct process *process);
void time_stamp_sigaction(struct process *process, const struct kernel_sigaction *action, struct kernel_sigaction *old);
void *time_stamp_fault(int signal, siginfo_t *info, struct ucontext *context);
long time_stamp_set(struct process *process, long mode);
long time_stamp_get(const struct process *process, int *mode);

/* preload.c */
void preload_start(void);

/* init.c */
extern struct process main_process;
extern struct thread main_thread;
void set_thread_pointer(struct thread *thread);
static inline struct thread *current_thread(void)
{
    struct thread *thread;

    __asm__ volatile("movq %%gs:0, %0" : "=r"(thread));
    return thread;
}

/* channel.c */
struct reply {
    int64_t status;
    int fd; /* -1 if none came */
    struct msgpack_array values;
};
void request_start(struct thread *thread, struct msgpack_writer *writer, int op, unsigned arguments);
void request_post(struct thread *thread, struct msgpack_writer *writer);
int64_t request_call(struct thread *thread, struct msgpack_writer *writer, struct reply *reply);
int64_t reply_wait(struct thread *thread, struct reply *reply);
int64_t reply_number(const struct reply *reply, int at);
void request_send(struct thread *thread, const uint8_t *buffer, struct msgpack_writer *writer);
void channel_check(struct thread *thread);
int64_t ask(struct thread *thread, struct reply *reply, int op, unsigned count, const int64_t *values);
#define ASK(thread, reply, op, ...)                                                                              \
    ask(thread, reply, op, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* clock_page.c */
uint64_t clock_now(struct thread *thread);
int64_t clock_read(struct thread *thread, int clock_id);
int64_t clock_deadline(struct thread *thread, int clock_id, const struct kernel_timespec *time, bool absolute);
int64_t clock_after(struct thread *thread, int64_t duration_ns);
bool clock_is_known(int clock_id);
bool clock_is_real(int clock_id);
bool clock_is_cpu(int clock_id);
void clock_charge_poll(struct call *call);
void clock_charge_call(struct call *call);
bool is_valid_time(const struct kernel_timespec *time);

/* wait.c */
struct wait {
    enum simunix_wait kind;
    int64_t deadline;
    uint64_t a, b, c;
    int64_t value; /* what came with the wake */
    bool steps;    /* siblings may end it: it waits for the clock, or at a futex of the process */
};
enum simunix_wake park(struct call *call, struct wait *wait);
enum simunix_wake slot_wait(struct thread *thread, int64_t *value);
void slot_hand_over(const struct process *process, uint32_t number, enum simunix_wake wake);
long wait_on(struct call *call, struct wait *wait, bool restarts);
long wait_polled(struct call *call, struct pollfd *fds, unsigned count, int64_t deadline, bool restarts);
int64_t socket_deadline(struct call *call, int fd, int option);
long wait_ready(struct call *call, int fd, short events, int timeout_option);
long wait_changed(struct call *call, int fd, short events, int64_t deadline, bool restarts);
bool is_nonblocking(int fd);

/* signals.c */
enum interruption { INTERRUPT_NONE, INTERRUPT_CALL, INTERRUPT_RESTART };
enum interruption signals_check(struct call *call);
long signals_interrupt(struct call *call, enum interruption what, bool restarts);
void signals_from_kernel(struct call *call);
void signals_temporary_mask(struct call *call, const uint64_t *mask);
uint64_t signals_strip(uint64_t mask);
void signals_adopt(void);
bool signals_default_stops(struct thread *thread, int signal);
void signals_announce_stop(struct thread *thread, int signal, long pid);
void signals_stop(struct thread *thread, int signal);
void signals_stop_if_due(struct thread *thread, uint64_t mask);

/* handoff.c */
bool handoff_alone(const struct thread *thread, uint64_t deadline);
bool handoff_park(struct call *call, const struct wait *wait, enum simunix_wake *wake);
void handoff_add(struct thread *thread, const struct wait *wait, long number, uint64_t blocked);
void handoff_remove(struct thread *thread);
bool handoff_wake(struct process *process, uint64_t word, int64_t most, uint32_t bitset, long *woken);
void handoff_requeue(struct process *process, const uint64_t from[2], const uint64_t to[2], int64_t woken, int64_t moved);
void handoff_tell(struct thread *thread);
unsigned handoff_news(struct simunix_handoff *news, unsigned count, unsigned most, struct thread *list);
void handoff_forget(struct process *process);

/* remote_handoff.c */
bool remote_handoff_fits(const struct process *process, uint64_t moment);
void remote_handoff_write(struct process *process);

/* threads.c */
struct thread *thread_new(struct process *process, int64_t seat, int channel);
void thread_release(struct thread *thread);
void threads_bury(struct process *process);

/* descriptors.c */
int descriptor_hide(int fd, int floor);
long descriptor_checked(struct call *call, long fd);
bool descriptor_is_ours(struct call *call, long fd);

/* sys_socket.c */
int64_t socket_id(int fd, char *type);
void netlink_store_address(void *to, uint32_t *length, uint32_t port);
/* epoll_entries.c */
struct epoll_entry {
    int epoll;
    bool is_there;
    struct {
        uint32_t events;
        uint64_t data;
    } __attribute__((packed)) event;
};
int epoll_entries_of(struct call *call, int fd, struct epoll_entry *entries, int most);
void epoll_entries_renew(int fd, struct epoll_entry *entries, int count);
/* netlink.c */
bool netlink_is_routing(const struct call *call);
bool netlink_take_over(struct call *call, int fd);
/* socket_family.c */
long socket_family_refused(struct call *call);
long netlink_refused(struct call *call, long error);
/* sys_interface.c */
bool interface_request(struct call *call, long *result);
/* ethtool.c */
long ethtool(bool is_loopback, uint32_t speed, void *data);
/* socket_state.c */
int socket_take_error(int fd);
long socket_pending_error(struct call *call, int fd);
long socket_received(struct call *call, int fd, long result);
bool stream_is(const struct process *process, int64_t id, enum simunix_stream what);
long socket_not_connected(struct call *call, int fd);
long socket_wait_to_receive(struct call *call, int fd, int flags);
long socket_receive_urgent(int fd, struct message_header *message, int flags);
long socket_cannot_send(struct call *call, int fd, int flags);
/* sys_datagram.c */
/* cmsg.c */
long control_messages_send(const struct message_header *message, struct simunix_datagram *header);
void control_messages_receive(const struct simunix_datagram *header, struct message_header *message);
void control_messages_correct_time(struct thread *thread, struct message_header *message);
long datagram_send(struct call *call, int fd, const struct message_header *message, int flags);
long datagram_take_error(int fd);
long datagram_receive(struct call *call, int fd, struct message_header *message, int flags);

/* sys_terminal.c */
int terminal_of_master(int fd);
long terminal_type(struct call *call, int number, const char *bytes, size_t size);
long terminal_read_on(int fd, char *bytes, size_t size, long done);

/* sys_priority.c */
long nice_shown(const struct process *process, long nice);

/* sys_lock.c */
void lock_released(struct call *call, long fd);

/* sys_root.c */
long proc_open(const char *path);
bool proc_name_of(long fd, char *name, size_t room);
long proc_open_numbered(const char *folder, int fd);

/* host_files.c */
const char *host_file(const struct process *process, const char *path, char *text, size_t size);

/* proc_files.c */
long proc_file_opened(struct call *call, const char *path, uint64_t flags, long fd);

/* sys_io.c */
void signalfd_refresh(struct thread *thread);

/* sys_eventfd.c */
long eventfd_await_room(struct call *call, int fd);

/* sys_futex.c */
struct futex_pair {
    uint32_t *from, *to;
    bool from_private, to_private;
};
void futex_key(struct process *process, uint64_t address, bool is_private, uint64_t key[2]);
uint16_t *futex_waiters(struct process *process, uint64_t address);
long futex_check_word(const uint32_t *word);
long futex_wait(struct call *call, uint32_t *word, bool is_private, uint32_t expected, int64_t deadline, uint32_t bitset);
long futex_wake(struct call *call, uint32_t *word, bool is_private, int64_t most, uint32_t bitset);
long futex_requeue(struct call *call, const struct futex_pair *pair, int64_t wake, int64_t move);

/* futex_pi.c */
long futex_lock_pi(struct call *call, uint32_t *word, bool is_private, int64_t deadline, bool try_only);
long futex_unlock_pi(struct call *call, uint32_t *word, bool is_private);
long futex_wait_requeue_pi(struct call *call, const struct futex_pair *pair, int64_t deadline);
long futex_cmp_requeue_pi(struct call *call, const struct futex_pair *pair);
void futex_release_robust(struct call *call);

/* strace/lines.c, strace/handlers.c */
long strace_call(struct call *call, call_handler answer);
void strace_open(struct thread *thread);
void strace_limited(struct process *process);
void strace_began(struct thread *thread, const char *path, char **argv, char **environment);
void strace_waits(struct call *call);
void strace_interrupted(struct call *call);
void strace_replacing(struct call *call, int directory, const char *path);
struct strace_handler {
    void *handler;
    bool plain;
};
struct strace_handler strace_watch(struct thread *thread, int signal, struct kernel_sigaction *action);
void strace_hide(struct kernel_sigaction *told, struct strace_handler before);

/* sys_compute.c */
long compute(struct call *call, uint64_t *flops);

/* sys_random.c */
uint64_t random_mix(uint64_t state);
uint64_t random_next(struct process *process);
long sys_getrandom(struct call *call);
bool random_refill(struct call *call, int fd);

/* diagnostic.c */
_Noreturn void fatal(const char *what, const char *detail, int64_t number);
void warn_once(struct thread *thread, enum simunix_warning kind, const char *what, const char *detail);

/* The futex word that stands for a file, in a space that says what is waited for there. */
static inline uint64_t inode_word(const struct stat *status)
{
    return (status->st_ino ^ status->st_dev << 40) & INT64_MAX;
}

/* What a struct rusage says that would be another number in every run, or comes of computing, which takes no time: all but the
 * greatest size. */
static inline void usage_forget(void *usage)
{
    int64_t *fields = usage;
    int64_t greatest_kib = fields[4];

    memset(fields, 0, 18 * sizeof *fields);
    fields[4] = greatest_kib;
}

static inline bool is_bad_pointer(const void *pointer)
{
    return (uint64_t)pointer < 4096 || (uint64_t)pointer >> 47 != 0;
}

#endif
