#include "turn/handoffs.h"

#include <string.h>

#include "shared/timer_queue.h"
#include "turn/waits/futexes.h"

static struct turn_actor *actor_at(const struct turn_core *core, uint32_t slot)
{
    return slot < SIMUNIX_SLOTS ? core->slots->actors[slot] : NULL;
}

static const struct simunix_outbox *outbox_in(const struct turn_core *core)
{
    return (const struct simunix_outbox *)((const char *)core->shared + SIMUNIX_OUTBOX_OFFSET);
}

/* Take the entries out of the journal, in the order of time. If the count of entries is impossible, the journal is
 * taken to be full.
 * Returns their number. */
static uint32_t take_journal(struct turn_core *core)
{
    struct simunix_timer_queue *timer_queue = timer_queue_of(core->shared);
    uint32_t count = timer_queue->journal_count;

    if (count > SIMUNIX_JOURNAL_MAX)
        count = SIMUNIX_JOURNAL_MAX;
    timer_queue->journal_count = 0;
    memcpy(core->news, timer_queue->journal, count * sizeof *core->news);
    return count;
}

/* Check whether the states that a process reports for its own threads are possible. Returns 0, or the reason why not. */
static int check_news(struct turn_core *core, const struct turn_actor *runner, const struct simunix_handoff *news,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct turn_actor *actor = actor_at(core, news[i].slot);

        if (actor == NULL)
            return HANDOFFS_OF_NOBODY;
        if (actor->process != runner->process)
            return HANDOFFS_OF_ANOTHER_PROCESS;
        for (uint32_t j = 0; j < i; j++)
            if (news[j].slot == news[i].slot)
                return HANDOFFS_TWICE;
    }
    return HANDOFFS_TRUE;
}

/* Keep the last entry of each slot, except for the slot of the thread that has the turn, in the order in which these
 * waits began; `count` becomes the number of kept entries. Returns HANDOFFS_TRUE, or why the entries are impossible. */
static int keep_latest(struct turn_core *core, const struct turn_actor *runner, uint32_t *count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < *count; i++) {
        if (core->news[i].slot >= SIMUNIX_SLOTS)
            return HANDOFFS_OF_NOBODY;
        core->slots->last[core->news[i].slot] = i;
    }
    for (uint32_t i = 0; i < *count; i++) {
        if (core->slots->last[core->news[i].slot] != i || core->news[i].slot == runner->slot)
            continue;
        if (actor_at(core, core->news[i].slot) == NULL)
            return HANDOFFS_OF_NOBODY;
        core->news[kept++] = core->news[i];
    }
    *count = kept;
    return HANDOFFS_TRUE;
}

static void tell(struct turn_actor *actor, const struct simunix_handoff *entry)
{
    actor->reply_wake = entry->wake;
    actor->reply_value = 0;
    actor->reply_in_python = 0;
}

/* Remove those actors from the news that a signal had made ready before another thread woke them: they keep their place
 * in the run queue. Returns how many entries are left. */
static uint32_t wake_ready(struct turn_core *core, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct turn_actor *actor = actor_at(core, core->news[i].slot);

        if (actor->state == TURN_READY && core->news[i].is_ready) {
            futexes_remove(core->parking, actor);
            tell(actor, &core->news[i]);
        } else {
            core->news[kept++] = core->news[i];
        }
    }
    return kept;
}

static int may_have_had_the_turn(const struct turn_actor *actor)
{
    return is_parked(actor) || actor->state == TURN_RUNNING;
}

static int check_states(const struct turn_core *core, const struct turn_actor *runner, uint32_t count)
{
    int has_holder = runner->state == TURN_RUNNING;

    if (!may_have_had_the_turn(runner))
        return HANDOFFS_OF_ONE_THAT_CANNOT_RUN;
    if (runner->ends_in_python && is_parked(runner))
        return HANDOFFS_OF_ANOTHER_WAIT;
    for (uint32_t i = 0; i < count; i++) {
        const struct turn_actor *actor = actor_at(core, core->news[i].slot);

        if (!may_have_had_the_turn(actor))
            return HANDOFFS_OF_ONE_THAT_CANNOT_RUN;
        if (actor->ends_in_python && is_parked(actor))
            return HANDOFFS_OF_ANOTHER_WAIT;
        has_holder |= actor->state == TURN_RUNNING;
    }
    return has_holder ? HANDOFFS_TRUE : HANDOFFS_WITHOUT_THE_HOLDER;
}

/* Return whether an actor waits for the same as before, alone at its futex, only until later, as most threads do that
 * run periodically. The wait is then changed in place. */
static int goes_on(struct turn_core *core, struct turn_actor *actor, const struct simunix_handoff *entry)
{
    struct turn_wait *wait = &actor->wait;

    if (entry->is_ready || !wait->siblings_may_wake || !is_parked(actor) || entry->deadline < 0)
        return 0;
    if (actor->deadline_in != DEADLINE_SHARED || entry->wait != wait->kind)
        return 0;
    if (wait->kind == PARK_FUTEX && (entry->word != wait->b || entry->bitset != wait->c || !futexes_is_alone(actor)))
        return 0; /* if other actors waited at the futex, this actor would get another place in the queue */
    if (wait->kind != PARK_FUTEX && wait->kind != PARK_TIME)
        return 0;
    wait->syscall = entry->syscall;
    wait->deadline = entry->deadline;
    wait->blocked = entry->blocked;
    wait->since = core_now(core);
    actor->has_object = 0;
    return 1;
}

/* Let an actor wait as an entry of the journal says, or make the actor ready if the entry says that its wait has ended. */
static int begin(struct turn_core *core, struct turn_actor *actor, const struct simunix_handoff *entry)
{
    actor->answer_at_slot = 1;
    if (entry->is_ready) {
        tell(actor, entry);
        parking_make_ready(core->parking, actor);
        return HANDOFFS_TRUE;
    }
    if (entry->wait != PARK_TIME && entry->wait != PARK_FUTEX)
        return HANDOFFS_OF_ANOTHER_WAIT;
    parking_say(actor, entry->wait, entry->syscall, entry->deadline, entry->blocked, 0, entry->word, entry->bitset,
                core_now(core), 1);
    parking_park(core->parking, actor, 1);
    return HANDOFFS_TRUE;
}

/* Record the states of actors in `count` entries of `news`. */
static int bring_up(struct turn_core *core, struct turn_actor *runner, uint32_t count)
{
    uint32_t changed = 0;
    int lie = keep_latest(core, runner, &count);

    if (lie != HANDOFFS_TRUE)
        return lie;
    count = wake_ready(core, count);
    lie = check_states(core, runner, count);
    if (lie != HANDOFFS_TRUE)
        return lie;
    parking_unpark(core->parking, runner);
    for (uint32_t i = 0; i < count; i++)
        if (!goes_on(core, actor_at(core, core->news[i].slot), &core->news[i]))
            core->news[changed++] = core->news[i];
    for (uint32_t i = 0; i < changed; i++)
        parking_unpark(core->parking, actor_at(core, core->news[i].slot));
    for (uint32_t i = 0; i < changed && lie == HANDOFFS_TRUE; i++)
        lie = begin(core, actor_at(core, core->news[i].slot), &core->news[i]);
    if (lie != HANDOFFS_TRUE)
        return lie;
    runner->state = TURN_RUNNING;
    runner->answer_at_slot = 0;
    page_of(core)->running = page_of(core)->siblings_ready = 0;
    return HANDOFFS_TRUE;
}

/* Record the states of actors in the journal. Returns 0, or the reason why the journal is impossible (enum handoffs_lie). */
int handoffs_catch_up(struct turn_core *core, struct turn_actor *runner)
{
    return bring_up(core, runner, take_journal(core));
}

/* Record the states of threads that an actor, which says that it has the turn, reports for its process. The journal,
 * which is earlier in time, has the states of actors of other processes. Returns 0, or the reason why the report is
 * impossible. */
int handoffs_told(struct turn_core *core, struct turn_actor *runner, const struct turn_outbox *outbox)
{
    struct simunix_handoff news[SIMUNIX_HANDOFF_MAX];
    uint32_t count = (uint32_t)outbox->news_count;
    uint32_t journal;
    int lie;

    if (outbox->news_count > SIMUNIX_HANDOFF_MAX)
        return HANDOFFS_TOO_MANY;
    memcpy(news, outbox_in(core)->news, count * sizeof *news); /* a process may write to this memory meanwhile */
    lie = check_news(core, runner, news, count);
    if (lie != HANDOFFS_TRUE)
        return lie;
    journal = take_journal(core);
    memcpy(core->news + journal, news, count * sizeof *news);
    lie = bring_up(core, runner, journal + count);
    if (lie == HANDOFFS_TRUE)
        turn_log_handoffs(core->log, outbox->digest);
    return lie;
}
