#include "turn/listener.h"

#include <stddef.h>

#include "shared/slots.h"
#include "turn/due.h"

static struct simunix_outbox *outbox_of(void *shared)
{
    return (struct simunix_outbox *)((char *)shared + SIMUNIX_OUTBOX_OFFSET);
}

/* Return virtual time, which never decreases. Emulated processes can write to the clock page, and a time after
 * LATEST_NS is invalid. */
int64_t core_now(struct turn_core *core)
{
    uint64_t now_ns = page_of(core)->now_ns;

    if (now_ns <= (uint64_t)LATEST_NS && (int64_t)now_ns > core->known_ns)
        core->known_ns = (int64_t)now_ns;
    return core->known_ns;
}

/* Return the moment of the next deadline or event; NEVER_NS if there is none. */
int64_t core_due(const struct turn_core *core)
{
    return due_next(core->timeline, core->shared);
}

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* Set how far the actor with the turn may move the clock: up to `lookahead`, to deadlines of the timer queue. While
 * another actor is ready, `lookahead` is 0, and `event` is at most a quantum after the turn began. */
static void set_lookahead(struct turn_core *core, int is_unsettled)
{
    struct simunix_clock_page *page = page_of(core);
    int64_t now_ns = core_now(core);
    int64_t event_ns = core_due(core);
    int64_t share_ns = (int64_t)page->quantum_ns;

    if (core->queue->count > 0 || is_unsettled) {
        page->lookahead_ns = 0;
        page->event_ns = (uint64_t)least(event_ns, share_ns > now_ns ? share_ns : now_ns + 1);
        return;
    }
    page->lookahead_ns = (uint64_t)least(least(now_ns + core->solo_limit_ns, core->limit_ns), timeline_next(core->timeline));
    page->event_ns = (uint64_t)event_ns;
}

/* Write how far the holder may move the clock, and begin to listen: from now on the holder, or a thread that has got
 * the turn from it, rings the doorbell. `is_unsettled`: Remote SimGrid must still compute its next event. */
void turn_allow(struct turn_core *core, int is_unsettled)
{
    struct simunix_clock_page *page = page_of(core);

    set_lookahead(core, is_unsettled);
    page->remote_handoffs = page->lookahead_ns != 0 && !core->has_debugger;
    outbox_of(core->shared)->is_asked = ASKED_NOTHING;
    core->seen = (uint32_t)page->doorbell;
}

/* Return the actor that has the turn now. The server gave the turn to the holder, which may have given it to another
 * thread. */
struct turn_actor *turn_runner(const struct turn_core *core)
{
    uint64_t slot = page_of(core)->running;
    struct turn_actor *runner = slot == 0 || slot >= SIMUNIX_SLOTS ? core->holder : core->slots->actors[slot];

    return runner == NULL ? core->holder : runner;
}

/* Copy the message out of the outbox. */
void turn_outbox_take(void *shared, struct turn_outbox *outbox)
{
    struct simunix_outbox *full = outbox_of(shared);

    outbox->asked = full->is_asked;
    outbox->slot = full->slot;
    outbox->length = full->length;
    outbox->tells_handoffs = full->tells_handoffs;
    outbox->digest = full->digest;
    outbox->news_count = full->news_count;
    full->is_asked = ASKED_NOTHING;
}

/* Wait for the doorbell, unless it has been rung since the last call. Returns 1 if the outbox contained a message,
 * which is then taken. */
int turn_hear(struct turn_core *core, int64_t patience_ns)
{
    struct simunix_clock_page *page = page_of(core);

    if ((uint32_t)__atomic_load_n(&page->doorbell, __ATOMIC_ACQUIRE) == core->seen)
        doorbell_wait(core->shared, core->seen, patience_ns);
    core->seen = (uint32_t)__atomic_load_n(&page->doorbell, __ATOMIC_ACQUIRE);
    core->speaker = turn_runner(core);
    if (__atomic_load_n(&outbox_of(core->shared)->is_asked, __ATOMIC_ACQUIRE) == ASKED_NOTHING)
        return 0;
    turn_outbox_take(core->shared, core->outbox);
    return 1;
}
