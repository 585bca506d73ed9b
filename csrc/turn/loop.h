/* The turn loop: gives turns, handles the messages that most turns end with, and returns to Python for everything else. */
#ifndef SIMUNIX_TURN_LOOP_H
#define SIMUNIX_TURN_LOOP_H

#include "turn/core.h"

/* cffi: begin */
/* Why the loop returns; `actor` and `which` of the core say about whom, or what. */
enum turn_event {
    TURN_GOES_ON,
    TURN_BUDGET,  /* the wall time that it was given is over */
    TURN_DRAIN,   /* the log of turns is full */
    TURN_LOOK,    /* Python has to look what is ready, since there is more than the kernel's epoll to be asked */
    TURN_NEWS,    /* targets that are Python's are ready */
    TURN_FAILED,  /* the kernel cannot be asked what is ready: errno `which` */
    TURN_HAPPENS, /* the event of the timeline with the handle `which` */
    TURN_ALARM,   /* a deadline of the timer queue, of the slot `which`, that only Python can let come */
    TURN_TIE,     /* a deadline and an event of Python's are due at one moment: which comes first? (due_settle) */
    TURN_SETTLE,  /* Remote SimGrid has still to say when its next event is */
    TURN_ADVANCE, /* nobody can run, and the clock cannot simply move on */
    TURN_SPIN,    /* there are turns that were taken back: do all spin that can run? */
    TURN_PICK,    /* who is next? */
    TURN_ELECT,   /* does `actor`, which is nominated, get the turn? */
    TURN_GIVE,    /* `actor`, the holder from now on, is to be given the turn */
    TURN_TELL,    /* the turn has begun, and `actor` has still to be told */
    TURN_LISTEN,  /* the holder has rung without a message in the outbox, or is silent, or is not to be waited for here */
    TURN_GUARD,   /* the clock is not what it should be after the turn of `speaker` */
    TURN_LIE,     /* `speaker` tells of hand-offs that cannot be: enum handoffs_lie `which` */
    TURN_MESSAGE  /* a message of `speaker` in the outbox */
};

/* What Python knows when it calls. */
enum turn_flag {
    TURN_UNSETTLED = 1,    /* Remote SimGrid has still to say when its next event is */
    TURN_PYTHON_LOOKS = 2, /* there is more than the kernel's epoll to be asked */
    TURN_MAY_SPIN = 4      /* there are turns that were taken back */
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
