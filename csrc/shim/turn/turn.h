/* Room turn: giving the turn back, and the one loop of every call that waits.
 *
 * Owns every wait for virtual time, the hand-off of the turn without the server, and the price of clock reads and calls. May
 * call core, strace and csrc/shared. Knows no family of system calls: sys/socket, for instance, finds the error of a
 * descriptor. */
#ifndef SIMUNIX_TURN_H
#define SIMUNIX_TURN_H

#include "shim/core/core.h"

struct msgpack_writer;
struct reply;

/* park.c, wait.c: the wait of a thread, and its end. */
struct wait {
    enum simunix_wait kind;
    int64_t deadline;
    uint64_t a, b, c;
    int64_t value; /* the value that came with the wake */
    /* other threads of the process may end the wait, since it is a wait for the clock, or at a futex of the process */
    bool by_handoff;
    /* for an operation of Remote SimGrid: its message and the reply, or the box that contains it; otherwise all NULL */
    struct msgpack_writer *request;
    struct reply *reply;
    struct simunix_rsg_box *box;
};
enum simunix_wake park(struct call *call, struct wait *wait);
enum simunix_wake slot_wait(struct thread *thread, int64_t *value);
bool advance_alone(struct thread *thread, const struct wait *wait);
long look_before_waiting_again(struct call *call, bool restarts);
long wait_on(struct call *call, struct wait *wait, bool restarts);

/* wait_ready.c */
enum { WAIT_ERROR = 1 }; /* values that wait_ready returns besides 0 and -errno */
long wait_polled(struct call *call, struct pollfd *fds, unsigned count, int64_t deadline, bool restarts);
long wait_exclusively(struct call *call, struct pollfd *fds, unsigned count, int64_t deadline, int64_t listener, bool is_file,
                      bool looked);
int64_t socket_deadline(struct call *call, int fd, int option);
long wait_ready(struct call *call, int fd, short events, int timeout_option);
long wait_blocked(struct call *call, int fd, short events, int timeout_option);
long wait_changed(struct call *call, int fd, short events, int64_t deadline, bool restarts);
bool is_nonblocking(int fd);

/* interruption.c */
enum interruption signals_look(struct call *call);
long signals_interrupt(struct call *call, enum interruption what, bool restarts);

/* lateness.c */
int64_t later(struct thread *thread, int64_t deadline);

/* handoff.c */
bool handoff_alone(const struct thread *thread, uint64_t deadline);
bool handoff_park(struct call *call, const struct wait *wait, enum simunix_wake *wake);
void handoff_add(struct thread *thread, const struct wait *wait, long number, uint64_t blocked);
bool handoff_wake(struct process *process, uint64_t word, int64_t most, uint32_t bitset, long *woken);
void handoff_doubt(struct process *process, uint64_t word);
void handoff_requeue(struct process *process, const uint64_t from[2], const uint64_t to[2], int64_t woken, int64_t moved);

/* remote_handoff.c */
bool remote_handoff_fits(const struct process *process, uint64_t moment);
void remote_handoff_write(struct process *process);

/* price.c */
/* the number of clock reads and calls since a thread last waited, after which it counts as impatient; see price.c */
#define CALLS_BEFORE_IMPATIENCE 20000
int64_t clock_read(struct thread *thread, int clock_id);
int64_t clock_read_from(struct thread *thread, int clock_id, const void *caller);
void clock_charge_poll(struct call *call);
void clock_charge(struct thread *thread, uint64_t cost_ns, uint64_t least_ns);
void clock_charge_plainly(struct thread *thread, uint64_t price_ns);
void clock_found(struct thread *thread);

/* Count a thread's clock reads and calls from 0 again, because the thread waits for something; its computing takes no
 * time again. */
static inline void clock_forget_asking(struct thread *thread)
{
    thread->pace.asked = thread->pace.looks = 0;
    thread->pace.pays_cpu = false;
}

/* give_back.c */
void give_turn_back(struct thread *thread, struct wait *wait);

/* cpu_account.c */
void charge_price(struct thread *thread, uint64_t ns);
void charge_turn_ends(struct thread *thread);
void charge_turn_begins(struct thread *thread);
void charge_begin(struct thread *thread);
void charge_passed(struct thread *thread, enum simunix_wake wake, int64_t value);
void charge_count(struct thread *thread, int64_t ns);
int64_t charge_counted_ns(const struct thread *thread);
int64_t charge_settle(struct thread *thread);
uint64_t thread_cpu_ns(void);

/* cpu_charge.c */
void charge_image(struct thread *thread, const struct reply *hello);
void charge_look(struct thread *thread, long point);
bool charge_preempted(struct thread *thread);
uint64_t raw_nice(const struct process *process);
uint64_t charged_child_ns(struct thread *thread, long pid);

/* call_price.c */
void clock_charge_call(struct call *call);
void clock_charge_yield(struct call *call, bool is_alone);

/* Return the futex word that stands for a file, in a space for one kind of kernel object. */
static inline uint64_t inode_word(const struct stat *status)
{
    return (status->st_ino ^ status->st_dev << 40) & INT64_MAX;
}

/* cpu_costs.c */
void costs_map(struct process *process, int64_t row);
long cost_point_of_call(long number);
long cost_point_of_read(const void *caller);
void cost_add(const struct thread *thread, long point, uint64_t calls, int64_t ns);
void costs_of_name(struct thread *thread, const char *name);
int64_t cost_of(const struct thread *thread, long point);

#endif
