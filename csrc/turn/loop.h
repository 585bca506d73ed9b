/* The turn loop: gives turns, handles the messages with which most turns end, and returns to Python for everything else. */
#ifndef SIMUNIX_TURN_LOOP_H
#define SIMUNIX_TURN_LOOP_H

#include "turn/core.h"

/* cffi: begin */
/* Why the loop returns to Python. `actor` and `which` of the core say which actor or number the event is about. */
enum turn_event {
    TURN_GOES_ON,
    TURN_BUDGET,  /* the real time that the loop may take is over */
    TURN_DRAIN,   /* the buffer for the log of turns is full */
    TURN_LOOK,    /* Python has to look what is ready, because this needs more than the kernel's epoll */
    TURN_NEWS,    /* sockets or processes, which Python handles, are ready */
    TURN_FAILED,  /* the kernel cannot be asked what is ready: errno `which` */
    TURN_HAPPENS, /* the event of the timeline with the handle `which` happens */
    TURN_ALARM,   /* the deadline of the slot `which` in the timer queue has come, which only Python can handle */
    TURN_TIE,     /* a deadline and one of Python's events have the same moment: Python decides which comes first
                   * (due_settle) */
    TURN_SETTLE,  /* Remote SimGrid must still compute the moment of its next event */
    TURN_ADVANCE, /* no actor can run, and the clock cannot move without Python */
    TURN_SPIN,    /* turns were taken back: Python decides whether all actors that can run spin */
    TURN_PICK,    /* Python chooses the next actor */
    TURN_ELECT,   /* Python decides whether `actor`, which is nominated, gets the turn */
    TURN_GIVE,    /* Python gives the turn to `actor`, the holder from now on */
    TURN_TELL,    /* the turn has begun, and Python must wake `actor` */
    /* the holder has rung the doorbell without a message in the outbox, or sends nothing, or must be listened to by Python */
    TURN_LISTEN,
    TURN_GUARD,  /* the clock shows an impossible time after the turn of `speaker` */
    TURN_LIE,    /* `speaker` reports hand-offs that are impossible: enum handoffs_lie `which` */
    TURN_MESSAGE /* a message of `speaker` is in the outbox */
};

/* Flags that Python passes to the loop. */
enum turn_flag {
    TURN_UNSETTLED = 1,    /* Remote SimGrid must still compute the moment of its next event */
    TURN_PYTHON_LOOKS = 2, /* the kernel's epoll alone does not say what is ready */
    TURN_MAY_SPIN = 4      /* turns were taken back from actors that can run */
};

struct turn_core *turn_core_new(void);
void turn_core_free(struct turn_core *core);
int turn_run(struct turn_core *core, int flags, int64_t end_ns, int64_t known_ns);
int turn_next(struct turn_core *core, int flags);
int turn_chosen(struct turn_core *core, struct turn_actor *actor, int flags);
int turn_elected(struct turn_core *core, struct turn_actor *actor, int flags);
void turn_begin(struct turn_core *core);
void turn_log_holder(struct turn_core *core);
void turn_tell(struct turn_core *core);
int turn_heard(struct turn_core *core, int is_guarded);
/* cffi: end */

#endif
