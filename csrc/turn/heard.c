/* Handles the message in the outbox, as far as C code can: reported hand-offs, and most PARKs. */
#include <stddef.h>

#include "turn/handoffs.h"
#include "turn/loop.h"

#define JUMP_NS 1000000000 /* a smaller jump of the clock (ns) is not examined (rsg_server/turn/clock_guard.py) */
#define FD_FLAGS 0xff
#define DESCRIPTORS 0x80000000u /* no descriptor of Linux has this number, or a higher one */

/* Return whether C code can begin this kind of wait. Only Python can begin the other kinds. */
static int is_of_core(const struct simunix_park *park)
{
    switch (park->wait) {
    case PARK_TIME:
    case PARK_YIELD:
        return 1;
    case PARK_FD:
        return (park->c & FD_FLAGS) == 0 && park->c >> 8 < DESCRIPTORS;
    case PARK_FUTEX:
        return park->a != SPACE_LOCKS && park->a != SPACE_MANY;
    default:
        return 0;
    }
}

/* Let an actor wait, unless what it waits for has happened already. An actor that yields is ready at once. */
static void park(struct turn_core *core, struct turn_actor *actor, const struct simunix_park *park)
{
    int64_t now_ns = core_now(core);
    int is_late = park->wait != PARK_FD && 0 <= park->deadline && park->deadline <= now_ns;

    actor->answer_at_slot = 1;
    if (park->wait == PARK_YIELD || is_late) { /* a ready descriptor has precedence, and only the kernel knows whether
                                                * one is ready */
        actor->reply_wake = park->wait == PARK_YIELD ? WAKE_READY : WAKE_TIMEOUT;
        actor->reply_value = 0;
        actor->reply_in_python = 0;
        parking_make_ready(core->parking, actor);
        return;
    }
    parking_say(actor, park->wait, park->syscall, park->deadline, park->blocked, park->a, park->b, park->c, now_ns,
                park->by_handoff != 0);
    parking_park(core->parking, actor, 0);
    if (park->wait == PARK_FD) /* a descriptor may have become ready since the kernel was last asked */
        core->readiness->may_have_changed = 1;
}

/* Let the actor that has the turn give it back, if its message asks for this, and if C code can begin the wait. */
static int handle(struct turn_core *core, struct turn_actor *actor)
{
    const char *shared = core->shared;
    struct simunix_park copy;

    if (core->outbox->asked != ASKED_TO_PARK || core->counts_parks || actor->process->memory_due_ns >= 0)
        return TURN_MESSAGE;
    if (actor->slot == 0 || (core->outbox->slot != 0 && core->outbox->slot != actor->slot))
        return TURN_MESSAGE;
    copy = ((const struct simunix_outbox *)(shared + SIMUNIX_OUTBOX_OFFSET))->park;
    if (!is_of_core(&copy))
        return TURN_MESSAGE;
    actor->reply_at_slot = core->outbox->slot != 0;
    park(core, actor, &copy);
    return TURN_GOES_ON;
}

static int may_be(const struct turn_core *core)
{
    uint64_t gone_ns = page_of(core)->now_ns - (uint64_t)core->known_ns;

    return gone_ns <= JUMP_NS;
}

/* Handle the message that was taken from the outbox, as far as C code can. `is_guarded`: the clock has been checked. */
int turn_heard(struct turn_core *core, int is_guarded)
{
    struct turn_actor *speaker = core->speaker;

    core->actor = speaker;
    if (!is_guarded && !may_be(core))
        return TURN_GUARD;
    core_now(core);
    if (core->outbox->tells_handoffs) {
        core->which = (uint32_t)handoffs_told(core, speaker, core->outbox);
        if (core->which != HANDOFFS_TRUE)
            return TURN_LIE;
        core->holder = speaker;
    }
    if (speaker != core->holder || speaker->state != TURN_RUNNING)
        return TURN_MESSAGE;
    return handle(core, speaker);
}
