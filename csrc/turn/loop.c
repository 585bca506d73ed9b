#include "turn/loop.h"

#include <stddef.h>

#include "turn/due.h"
#include "turn/give.h"
#include "turn/listener.h"
#include "turn/waits/memory.h"
#include "turn/real_time.h"

#define ROUNDS_BETWEEN_LOOKS 64 /* the number of turns and steps of the clock after which the loop looks at the wall clock */
#define LONG_NS 1000000000      /* before so long a step of the clock, Python checks who waits for the next event */
/* After how long (ns) the listener checks whether the actor with the turn has died, since a death rings no doorbell.
 * The time is longer than a tick of the kernel: for a time-out before the next tick, the kernel would set the
 * hardware's timer at each wait. */
#define FIRST_SLICE_NS 6000000

struct turn_core *turn_core_new(void)
{
    struct turn_core *core = held(calloc(1, sizeof *core));

    core->news = held(calloc(SIMUNIX_JOURNAL_MAX + SIMUNIX_HANDOFF_MAX, sizeof *core->news));
    return core;
}

void turn_core_free(struct turn_core *core)
{
    free(core->news);
    free(core);
}

/* Let due deadlines and events come, until one that only Python can handle. */
static int happen(struct turn_core *core)
{
    switch (due_step(core->timeline, core->shared, core->parking, core->due_until_ns, &core->which)) {
    case DUE_EVENT:
        return TURN_HAPPENS;
    case DUE_ALARM:
        return TURN_ALARM;
    case DUE_TIE:
        return TURN_TIE;
    default:
        core->is_due = 0;
        return TURN_GOES_ON;
    }
}

static int happen_until(struct turn_core *core, int64_t moment_ns)
{
    core->is_due = 1;
    core->due_until_ns = moment_ns;
    return happen(core);
}

static int look(struct turn_core *core, int flags)
{
    int result;

    if (flags & TURN_PYTHON_LOOKS)
        return TURN_LOOK;
    core->unsettled = 0;
    core->readiness->may_have_changed = 0;
    result = readiness_look(core->readiness, core->parking);
    core->which = result < 0 ? (uint32_t)-result : 0;
    if (result < 0)
        return TURN_FAILED;
    return result > 0 ? TURN_NEWS : TURN_GOES_ON;
}

/* Move the clock to the next event and let it happen, because no actor can run. */
static int advance(struct turn_core *core)
{
    int64_t due_ns = core_due(core);

    if (core->unsettled || due_ns == NEVER_NS || due_ns > core->limit_ns || due_ns - core_now(core) >= LONG_NS)
        return TURN_ADVANCE;
    core->known_ns = due_ns;
    page_of(core)->now_ns = (uint64_t)due_ns;
    return happen_until(core, due_ns);
}

/* Go on after Python has decided whether a nominated actor gets the turn. */
int turn_elected(struct turn_core *core, struct turn_actor *actor, int flags)
{
    return give(core, actor, flags & TURN_UNSETTLED);
}

/* Give the turn to an actor that was taken out of the run queue. */
int turn_chosen(struct turn_core *core, struct turn_actor *actor, int flags)
{
    core->actor = actor;
    if (actor->is_nominated && is_parked(actor) && !readiness_is_plain(actor))
        return TURN_ELECT;
    if (actor->is_nominated && !readiness_elect(core->parking, actor))
        return TURN_GOES_ON;
    return give(core, actor, flags & TURN_UNSETTLED);
}

/* Give the turn to the next actor in the run queue, which must not be empty. */
int turn_next(struct turn_core *core, int flags)
{
    struct turn_actor *first = core->queue->first;

    if (core->asks_order)
        return TURN_PICK;
    run_queue_remove(core->queue, first);
    return turn_chosen(core, first, flags);
}

/* Do one step while no actor has the turn: look which descriptors are ready, let due events happen, and give the turn
 * to the next actor, or move the clock. */
static int between(struct turn_core *core, int flags, int64_t end_ns)
{
    if (core->is_due)
        return happen(core);
    if (++core->rounds % ROUNDS_BETWEEN_LOOKS == 0 && real_time_ns() > end_ns)
        return TURN_BUDGET;
    if (turn_log_is_full(core->log))
        return TURN_DRAIN;
    if (core->readiness->may_have_changed || page_of(core)->may_have_woken != 0) {
        int event = look(core, flags);

        if (event != TURN_GOES_ON)
            return event;
    }
    if (core_due(core) <= core_now(core))
        return happen_until(core, core_now(core));
    if (core->queue->count == 0 && flags & TURN_UNSETTLED)
        return TURN_SETTLE;
    if (core->queue->count == 0)
        return advance(core);
    if (flags & TURN_MAY_SPIN && core_due(core) != NEVER_NS)
        return TURN_SPIN;
    return turn_next(core, flags);
}

/* Handle messages of the holder until it has given the turn back. */
static int serve(struct turn_core *core)
{
    struct turn_actor *holder = core->holder;

    if (holder->state != TURN_RUNNING) {
        core->holder = NULL;
        return TURN_GOES_ON;
    }
    core->actor = holder;
    core->has_listened = 0;
    if (holder->owes_message || holder->is_spinner || holder->process->is_timed)
        return TURN_LISTEN;
    core->has_listened = 1;
    if (!turn_hear(core, FIRST_SLICE_NS))
        return TURN_LISTEN;
    return turn_heard(core, 0);
}

/* Give turns until there is something that only Python can do (enum turn_event), at most until `end_ns` of real time.
 * `known_ns` is the virtual time that Python knows. */
int turn_run(struct turn_core *core, int flags, int64_t end_ns, int64_t known_ns)
{
    int event;

    if (known_ns > core->known_ns)
        core->known_ns = known_ns;
    do
        event = core->holder == NULL ? between(core, flags, end_ns) : serve(core);
    while (event == TURN_GOES_ON);
    return event;
}
