/* librsg: Remote SimGrid for programs in C. Every function is an operation of the calling thread. If the comment says
 * "actor", the thread must be an actor (rsg_connect).
 *
 * A function returns 0 or one of enum simunix_rsg_error (rsg_protocol.h); rsg_error_text returns the text for it.
 * Results are written to the variables to which the last arguments point. Times are seconds, sizes bytes, computing
 * flops; a time or rate below 0 means none. Outside an emulation every function returns RSG_NO_EMULATION.
 */
#ifndef RSG_H
#define RSG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* cffi: begin */
struct rsg_activity_state {
    int64_t state; /* enum simunix_rsg_state */
    double remaining, start, finish;
};

struct rsg_actor_state {
    int64_t pid, parent, host, is_daemon, is_suspended;
    char name[256];
};

struct rsg_host_state {
    int64_t cores, pstate, pstates, is_on;
    double speed, load, available; /* available: the part of the host's speed that its profile leaves */
    char name[256];
};

struct rsg_link_state {
    double bandwidth, latency;
    int64_t is_on;
    char name[256];
};

struct rsg_disk_state {
    int64_t host;
    double read_bandwidth, write_bandwidth;
    char name[256];
};

struct rsg_mailbox_state {
    int64_t puts, gets, is_ready, receiver;
    char name[256];
};

/* A message that was received: `bytes` are `length` bytes from malloc(3), which the caller frees; NULL if there are none. */
struct rsg_message {
    void *bytes;
    size_t length;
    double size;
};

const char *rsg_error_text(int error);

/* Actors */
/* become the announced actor `pid`, or for 0 a new one; returns when the actors have begun */
int rsg_connect(int64_t pid, const char *name, int64_t *own);
/* the same, with the pid in the environment's RSG_INITIAL_ACTOR_ID, if it is there */
int rsg_connect_from_environment(const char *name, int64_t *own);
int rsg_actor_create(int64_t host, const char *name, int64_t *pid);
int rsg_actor_created(int64_t pid); /* actor: returns when that actor has connected */
/* the new actor runs `code` in a thread */
int rsg_actor_start(int64_t host, const char *name, int (*code)(void *), void *argument, int64_t *pid);
/* as fork(2): in the child, which is the new actor, *pid is 0 */
int rsg_actor_fork(int64_t host, const char *name, int64_t *pid);
int rsg_end(void);
int rsg_join(int64_t pid, double timeout, int64_t *timed_out);
int rsg_kill(int64_t pid); /* -1: all actors but the caller */
int rsg_kill_time(int64_t pid, double date);
int rsg_await_host(int64_t host); /* for a thread that is no actor: returns when the host is on */
int rsg_suspend(int64_t pid);
int rsg_continue(int64_t pid);
int rsg_daemonize(void);
int rsg_migrate(int64_t pid, int64_t host);
int rsg_actor(int64_t pid, struct rsg_actor_state *state); /* 0: the caller */
int rsg_actors(int64_t first, int64_t *pids, size_t room, size_t *count);
/* for a thread that is no actor: its operations are on behalf of that actor from now on */
int rsg_help(int64_t pid, int64_t *helper);
int rsg_dismiss(int64_t helper); /* the activities for which the helper waits go on, and the helper gets RSG_KILLED */
/* for a thread that is no actor: begins all actors, and returns when they have ended */
int rsg_run(double timeout);

/* Time */
int rsg_clock(double *date);
int rsg_sleep(double seconds);
int rsg_sleep_until(double date);
int rsg_yield(void);

/* Hosts and links, by number */
int rsg_host(const char *name, int64_t *host);
int rsg_host_at(int64_t place, int64_t *host); /* -1: the caller's host */
int rsg_host_state(int64_t host, struct rsg_host_state *state);
int rsg_host_speed(int64_t host, int64_t pstate, double *speed);
int rsg_host_turn(int64_t host, int64_t is_on);
int rsg_host_set_pstate(int64_t host, int64_t pstate);
int rsg_host_property(int64_t host, const char *key, char *value, size_t room);
int rsg_link(const char *name, int64_t *link);
int rsg_link_at(int64_t place, int64_t *link);
int rsg_link_state(int64_t link, struct rsg_link_state *state);
int rsg_link_turn(int64_t link, int64_t is_on);
int rsg_link_set(int64_t link, double bandwidth, double latency);
int rsg_route(int64_t source, int64_t destination, double *latency, int64_t *links, size_t room, size_t *count);

/* Mailboxes and communications */
int rsg_mailbox(const char *name, int64_t *mailbox);
int rsg_mailbox_state(int64_t mailbox, struct rsg_mailbox_state *state);
int rsg_mailbox_receiver(int64_t mailbox, int64_t pid);
int rsg_put(int64_t mailbox, const void *bytes, size_t length, double size, double rate, double timeout);
int rsg_put_async(int64_t mailbox, const void *bytes, size_t length, double size, double rate, int64_t *activity);
int rsg_put_detached(int64_t mailbox, const void *bytes, size_t length, double size, double rate);
int rsg_get(int64_t mailbox, double rate, double timeout, struct rsg_message *message);
int rsg_get_async(int64_t mailbox, double rate, int64_t *activity);
int rsg_sendto(int64_t source, int64_t destination, double size, double rate);
int rsg_sendto_async(int64_t source, int64_t destination, double size, double rate, int64_t *activity);

/* Executions */
int rsg_execute(double flops, double priority, double bound);
int rsg_execute_async(int64_t host, double flops, double priority, double bound, int64_t *activity); /* host -1: the caller's */
int rsg_execute_on(int64_t host, double flops, double priority, double bound);

/* actor: a parallel task on `count` hosts, with flops on each, and bytes from each to each, row by row (NULL: none) */
int rsg_parallel(const int64_t *hosts, const double *flops, const double *bytes, size_t count);
int rsg_parallel_async(const int64_t *hosts, const double *flops, const double *bytes, size_t count, int64_t *activity);

/* Disks, by number, and reads and writes */
int rsg_disk_at(int64_t host, int64_t place, int64_t *disk); /* host -1: the caller's */
int rsg_disk_state(int64_t disk, struct rsg_disk_state *state);
int rsg_io(int64_t disk, int64_t is_write, double size, double priority);
int rsg_io_async(int64_t disk, int64_t is_write, double size, double priority, int64_t *activity);

/* Activities. `message` may be NULL; it is filled only for a received message. */
int rsg_wait(int64_t activity, double timeout, struct rsg_message *message);
/* place -1: the timeout has passed */
int rsg_wait_any(const int64_t *activities, size_t count, double timeout, int64_t *place);
int rsg_test(int64_t activity, int64_t *is_over);
int rsg_cancel(int64_t activity);
int rsg_forget(int64_t activity);
int rsg_activity(int64_t activity, struct rsg_activity_state *state);
int rsg_hold(int64_t activity, int64_t is_held);
int rsg_set_priority(int64_t activity, double priority);

/* Activities that are made and have not begun. An activity begins when it was started, all activities that it waits for
 * are done, and an actor has learned that they are, by rsg_wait, rsg_wait_any or rsg_test. A wait starts an activity
 * that was not started. */
int rsg_execute_init(int64_t host, double flops, double priority, double bound, int64_t *activity);
int rsg_parallel_init(const int64_t *hosts, const double *flops, const double *bytes, size_t count, int64_t *activity);
int rsg_sendto_init(int64_t source, int64_t destination, double size, double rate, int64_t *activity);
int rsg_put_init(int64_t mailbox, const void *bytes, size_t length, double size, double rate, int64_t *activity);
int rsg_get_init(int64_t mailbox, double rate, int64_t *activity);
int rsg_io_init(int64_t disk, int64_t is_write, double size, double priority, int64_t *activity);
int rsg_set_term(int64_t activity, int64_t term, double value); /* enum simunix_rsg_term */
int rsg_start(int64_t activity);
int rsg_detach(int64_t activity); /* for a put: starts it, and nobody will wait for it */
int rsg_add_successor(int64_t activity, int64_t successor);
int rsg_remove_successor(int64_t activity, int64_t successor);
int rsg_dependencies(int64_t activity, int64_t *activities, size_t room, size_t *count); /* the activities that it waits for */

/* Synchronisation */
int rsg_mutex(int64_t *mutex);
int rsg_lock(int64_t mutex);
int rsg_try_lock(int64_t mutex, int64_t *has_locked);
int rsg_unlock(int64_t mutex);
int rsg_semaphore(int64_t capacity, int64_t *semaphore);
int rsg_acquire(int64_t semaphore, double timeout, int64_t *timed_out);
int rsg_release(int64_t semaphore);
int rsg_semaphore_capacity(int64_t semaphore, int64_t *capacity);
int rsg_barrier(int64_t expected, int64_t *barrier);
int rsg_arrive(int64_t barrier, int64_t *was_last);
int rsg_condition(int64_t *condition);
int rsg_condition_wait(int64_t condition, int64_t mutex, double timeout, int64_t *timed_out);
int rsg_notify(int64_t condition, int64_t is_for_all);
/* cffi: end */

#ifdef __cplusplus
}
#endif

#endif
