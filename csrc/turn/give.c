#include "turn/give.h"

#include <stddef.h>

#include "shared/slots.h"
#include "turn/waits/futexes.h"
#include "turn/listener.h"
#include "turn/loop.h"
#include "turn/real_time.h"

/* Begin the turn of the holder: so far, the turn has had no hand-off, and has woken no actor. When the quantum is over,
 * the turn ends with the next call if it may have woken other actors. */
void turn_begin(struct turn_core *core)
{
    struct simunix_clock_page *page = page_of(core);

    parking_leave(core->parking, core->holder);
    page->may_have_woken = page->running = page->siblings_ready = page->computing_slot = 0;
    page->lock_waiters = futexes_lock_waiters(core->parking);
    page->quantum_ns = (uint64_t)core_now(core) + SIMUNIX_QUANTUM_NS;
}

/* Add the holder's turn to the log of turns. */
void turn_log_holder(struct turn_core *core)
{
    turn_log_turn(core->log, (uint64_t)core_now(core), core->holder->number, (uint8_t)core->holder->reply_wake);
}

/* Wake the holder, which waits at its slot for its turn. */
void turn_tell(struct turn_core *core)
{
    struct turn_actor *actor = core->holder;

    actor->answer_at_slot = 0;
    slot_answer(core->shared, actor->slot, actor->reply_wake, actor->reply_value);
}

/* Return whether the actor gets more than a reason and a value at its slot, so that Python must give the turn. */
static int is_of_python(const struct turn_actor *actor)
{
    return actor->ends_in_python || actor->is_new || actor->owes_message || actor->is_spinner || actor->reply_in_python ||
           !actor->answer_at_slot;
}

/* Give the turn to an actor. Returns TURN_GIVE or TURN_TELL if Python must do the rest, else TURN_GOES_ON. */
int give(struct turn_core *core, struct turn_actor *actor, int is_unsettled)
{
    core->actor = core->holder = actor;
    core->holder_since_ns = real_time_ns();
    actor->state = TURN_RUNNING;
    if (is_of_python(actor))
        return TURN_GIVE;
    turn_begin(core);
    turn_log_holder(core);
    turn_allow(core, is_unsettled);
    if (core->tells_turns)
        return TURN_TELL;
    turn_tell(core);
    return TURN_GOES_ON;
}
