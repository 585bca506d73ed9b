/* The operations of Remote SimGrid, by which a program asks the server explicitly. This file is a part of protocol.h
 * and, like it, contains only enums, structs and integer defines.
 *
 *     prctl(PR_SIMUNIX_RSG, struct simunix_rsg_call *call)
 *
 * sends one operation of the calling thread, which is an actor, and returns when it is done: 0, or EINTR if a signal's
 * handler has run before; a caller that sees EINTR calls again with the structure as it is. `status` is then 0 or one
 * of enum simunix_rsg_error.
 *
 * The request and the answer are fields of 8 bytes, of the machine's order, each a signed integer or a double; a text,
 * or the bytes of a message, comes last. In the comments below, of a field: i an integer, d a double, t the text or the
 * bytes at the end. A time or rate below 0 means none, a pid of 0 the caller.
 */
#ifndef SIMUNIX_RSG_PROTOCOL_H
#define SIMUNIX_RSG_PROTOCOL_H

#include <stdint.h>

struct simunix_rsg_call {
    int64_t operation; /* enum simunix_rsg_operation */
    int64_t resumes;   /* 0 before the first call; 1: a handler has run, and the answer has not come yet */
    int64_t status;
    const void *request;
    uint64_t request_bytes; /* at most SIMUNIX_RSG_REQUEST_MAX */
    void *answer;
    uint64_t answer_room;
    uint64_t answer_bytes; /* the number of bytes that have come */
};

#define SIMUNIX_RSG_REQUEST_MAX 3584
#define SIMUNIX_RSG_ANSWER_MAX 3584

/* The box of a thread: its request, then the answer. There is one for each slot, in the file of the shared memory
 * behind the table of struct simunix_cpu_cost. When a program has sent its first operation over its channel, the server
 * makes the file long enough. A thread writes its request, sets `is_asked`, rings the doorbell and waits at its slot,
 * where the answer's status comes. A thread uses its box only if it has nothing else to report to the server first
 * (core/message/outbox.c: may_ask_in_box). */
struct simunix_rsg_box {
    uint64_t is_asked; /* set by the thread, cleared by the server */
    int64_t operation; /* as the arguments of OP_RSG */
    uint64_t blocked;
    uint64_t request_bytes;
    uint64_t answer_bytes;
    uint8_t bytes[4056];
};
#define SIMUNIX_RSG_BOX_BYTES 4096
#define SIMUNIX_RSG_BOXES_OFFSET 36454400

enum simunix_rsg_operation {
    RSG_RESUME = 0, /* sent by the shim: go on waiting for the operation that a signal's handler has interrupted */

    /* actors */
    RSG_CONNECT = 1,  /* i pid, 0: a new actor of this name, t name -> i pid; waits until the actors are started */
    RSG_CREATE = 2,   /* i host, t name -> i pid; an actor whose thread or process is still to connect */
    RSG_CREATED = 3,  /* i pid; waits until that actor has connected */
    RSG_END = 4,      /* the caller is no actor any longer */
    RSG_JOIN = 5,     /* i pid, d time -> i 1 if the time is over before the actor is */
    RSG_KILL = 6,     /* i pid; -1: all but the caller */
    RSG_SUSPEND = 7,  /* i pid */
    RSG_CONTINUE = 8, /* i pid */
    RSG_DAEMONIZE = 9,
    RSG_ACTOR = 10,   /* i pid -> i pid, i parent's pid, i host, i bits of enum simunix_rsg_actor, t name */
    RSG_MIGRATE = 11, /* i pid, i host */
    RSG_RUN = 12,     /* d time; starts the actors and waits until all that are no daemons have ended */
    RSG_ACTORS = 13,  /* i first -> i pids of actors from that one on, as many as fit */

    /* time */
    RSG_CLOCK = 14, /* -> d seconds */
    RSG_SLEEP = 15, /* d seconds */
    RSG_YIELD = 16,

    /* hosts and links */
    RSG_HOST = 17,        /* t name -> i host */
    RSG_HOST_AT = 18,     /* i place, -1: where the caller is -> i host */
    RSG_HOST_STATE = 19,  /* i host -> i cores, d flop/s of a core, i power state, i power states, i 1 if on, d load, t name */
    RSG_HOST_SPEED = 20,  /* i host, i power state -> d flop/s */
    RSG_HOST_TURN = 21,   /* i host, i 1: on */
    RSG_HOST_PSTATE = 22, /* i host, i power state */
    RSG_HOST_PROPERTY = 23, /* i host, t key -> t value */
    RSG_LINK = 24,          /* t name -> i link */
    RSG_LINK_AT = 25,       /* i place -> i link */
    RSG_LINK_STATE = 26,    /* i link -> d bytes/s, d latency, i 1 if on, t name */
    RSG_LINK_TURN = 27,     /* i link, i 1: on */
    RSG_LINK_SET = 28,      /* i link, d bytes/s, d latency */
    RSG_ROUTE = 29,         /* i host, i host -> d latency, i links, as many as fit */

    /* mailboxes and communications */
    RSG_MAILBOX = 30, /* t name -> i mailbox */
    RSG_MAILBOX_STATE =
        31,            /* i mailbox -> i waiting puts, i waiting gets, i 1 if the first put has arrived, i receiver, t name */
    RSG_RECEIVER = 32, /* i mailbox, i pid, -1: none */
    RSG_STAGE = 33,    /* t bytes, to come before those of the next put */
    RSG_PUT = 34,      /* i mailbox, i flags, d size, d rate, d time, t bytes -> i activity */
    RSG_GET = 35,      /* i mailbox, i flags, d rate, d time -> i activity, or as RSG_WAIT */
    RSG_SENDTO = 36,   /* i host, i host, i flags, d size, d rate -> i activity */

    /* activities */
    RSG_EXECUTE = 37,  /* i host, -1: the caller's, i flags, d flops, d priority, d flop/s at most -> i activity */
    RSG_PARALLEL = 38, /* i flags, i n, t n i hosts, n d flops, n*n or no d bytes -> i activity */
    RSG_WAIT = 39,     /* i activity, d time -> i bytes of the message, -1: no message, d its size, t its first bytes */
    RSG_TAKE = 40,     /* i activity, i offset -> t more of the bytes of the message that was received last */
    RSG_TEST = 41,     /* i activity -> i 1 if it is over; then it is to be waited for, which returns at once */
    RSG_CANCEL = 42,   /* i activity */
    RSG_FORGET = 43,   /* i activity; nobody will ask for it any more */
    RSG_WAIT_ANY = 44, /* d time, i activities -> i place of the first that is over, to be waited for; -1: time is over */
    RSG_ACTIVITY = 45, /* i activity -> i enum simunix_rsg_state, d what remains, d start, d end */
    RSG_HOLD = 46,     /* i activity, i 1: suspend, 0: go on */
    RSG_PRIORITY = 47, /* i activity, d priority */

    /* activities that were created and have not begun (RSG_LATER), and dependencies between activities */
    RSG_START = 83,        /* i activity, i flags (RSG_DETACHED); begins it once its dependencies are solved */
    RSG_SUCCESSOR = 84,    /* i activity, i successor, i 1: begins after it, 0: does not wait for it any more */
    RSG_DEPENDENCIES = 85, /* i activity, i offset -> i activities that it waits for, as many as fit */
    RSG_SET_TERM = 86,     /* i activity that has not begun, i enum simunix_rsg_term, d value */

    /* disks */
    RSG_DISK_AT = 80,    /* i host, i place -> i disk */
    RSG_DISK_STATE = 81, /* i disk -> i host, d bytes/s of reads, d of writes, t name */
    RSG_IO = 82,         /* i disk, i flags, i 1: write, d size, d priority -> i activity */

    /* synchronisation */
    RSG_MUTEX = 50,           /* -> i object */
    RSG_LOCK = 51,            /* i mutex */
    RSG_TRY_LOCK = 52,        /* i mutex -> i 1 if the caller has it now */
    RSG_UNLOCK = 53,          /* i mutex */
    RSG_SEMAPHORE = 54,       /* i capacity -> i object */
    RSG_ACQUIRE = 55,         /* i semaphore, d time -> i 1 if the time is over */
    RSG_RELEASE = 56,         /* i semaphore */
    RSG_SEMAPHORE_STATE = 57, /* i semaphore -> i capacity */
    RSG_BARRIER = 58,         /* i actors -> i object */
    RSG_ARRIVE = 59,          /* i barrier -> i 1 for the actor that came last */
    RSG_CONDITION = 60,       /* -> i object */
    RSG_CONDITION_WAIT = 61,  /* i condition, i mutex, d time -> i 1 if the time is over */
    RSG_NOTIFY = 62,          /* i condition, i 1: all */

    /* helpers: threads that wait on behalf of an actor, while the actor's own thread does something else */
    RSG_HELP = 70,    /* i pid -> i helper: the calling thread, which is no actor, may do that actor's operations now */
    RSG_DISMISS = 71, /* i helper: the activities for which the helper waits go on, and the helper gets RSG_KILLED */

    /* deployments */
    RSG_KILL_TIME = 72, /* i pid, d date at which the actor is killed */
    RSG_AWAIT_HOST = 73 /* i host; the calling thread, which is no actor, waits until the host is on */
};

/* Flags of operations that begin an activity: do not wait for the activity's end; nobody will wait for it; its bytes
 * were sent before by RSG_STAGE; only create it, do not begin it. */
enum simunix_rsg_flag { RSG_ASYNC = 1, RSG_DETACHED = 2, RSG_STAGED = 4, RSG_LATER = 8 };

/* The terms of an activity that has not begun and that may be changed: bytes or flops, and so on. */
enum simunix_rsg_term { RSG_AMOUNT = 1, RSG_RATE = 2, RSG_WEIGHT = 3, RSG_BOUND = 4, RSG_WHERE = 5 };

enum simunix_rsg_actor { RSG_IS_DAEMON = 1, RSG_IS_SUSPENDED = 2 };

/* States of an activity. RSG_MADE: not started; RSG_VETOED: started, but it waits for other activities; RSG_WAITING: it
 * waits for the other actor. */
enum simunix_rsg_state {
    RSG_MADE = -2,
    RSG_VETOED = -1,
    RSG_WAITING = 0,
    RSG_STARTED = 1,
    RSG_DONE = 2,
    RSG_FAILED = 3,
    RSG_CANCELLED = 4,
    RSG_TIMED_OUT = 5
};

enum simunix_rsg_error {
    RSG_NO_ERROR = 0,
    RSG_BAD_REQUEST = 1,  /* the request does not have the fields of its operation */
    RSG_NO_EMULATION = 2, /* the program is not emulated */
    RSG_NO_ACTOR = 3,     /* the calling thread is no actor, or no actor has this pid */
    RSG_UNKNOWN_HOST = 4,
    RSG_UNKNOWN_LINK = 5,
    RSG_UNKNOWN_MAILBOX = 6,
    RSG_UNKNOWN_ACTIVITY = 7, /* no activity has had this number */
    RSG_WAITED_TWICE = 8,     /* the activity has been waited for already, or was forgotten or detached */
    RSG_UNKNOWN_OBJECT = 9,   /* no such mutex, semaphore, barrier or condition variable */
    RSG_NEGATIVE = 10,        /* a size, a number of flops or a rate below 0, or no number */
    RSG_TIMEOUT = 11,
    RSG_CANCELED = 12,
    RSG_NETWORK_FAILURE = 13, /* a link is down, or the other actor has died */
    RSG_HOST_FAILURE = 14,    /* a host is off */
    RSG_STORAGE_FAILURE = 25, /* a disk is failing or read-only, or its host is off */
    RSG_UNKNOWN_DISK = 26,
    RSG_NO_TASKS = 27,  /* the flow model has no parallel tasks */
    RSG_KILLED = 15,    /* the actor has been killed, so its function must return */
    RSG_NOT_OWNER = 16, /* a mutex that another actor has locked, or that is not locked */
    RSG_MEMORY = 17,    /* the waiting messages have too many bytes, or there are too many objects */
    RSG_NO_ROUTE = 18,
    RSG_BAD_VALUE = 19,  /* a power state or a place that does not exist, a barrier for 0 actors, a mutex locked twice */
    RSG_HAS_BEGUN = 28,  /* an activity that is to wait for another one, or to get another term, has begun or is over */
    RSG_CYCLE = 29,      /* an activity would wait for its own end */
    RSG_DEPENDENCY = 30, /* a dependency that exists already, or one to be removed that does not exist */
    RSG_NO_SPEED = 31    /* computing on a host whose speed is 0 */
};

#endif
