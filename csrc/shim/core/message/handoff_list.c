/* The lists of threads that others of their process may wake without the server, and the reports about these threads to
 * the server.
 *
 * Each message also tells the server how the states of these threads have changed since the last message: outbox_send,
 * which sends every message of a thread with the turn, calls handoffs_write first. turn/handoff.c decides which of
 * these threads gets the turn.
 */
#include "shim/core/channel.h"

void handoff_append(struct thread **list, struct thread *thread)
{
    while (*list != NULL)
        list = &(*list)->handoff.next;
    thread->handoff.next = NULL;
    *list = thread;
}

void handoff_take(struct thread **list, const struct thread *thread)
{
    while (*list != NULL && *list != thread)
        list = &(*list)->handoff.next;
    if (*list != NULL)
        *list = thread->handoff.next;
}

static struct thread **list_of(const struct thread *thread)
{
    return thread->handoff.state == HANDOFF_READY ? &thread->process->handoffs.ready : &thread->process->handoffs.parked;
}

/* Remove a thread from the lists, because it has the turn, or waits for something that only the server can end. */
void handoff_remove(struct thread *thread)
{
    if (thread->handoff.state == HANDOFF_NONE)
        return;
    handoff_take(list_of(thread), thread);
    thread->handoff.state = HANDOFF_NONE;
    thread->process->handoffs.count--;
}

/* Write into the outbox those threads of a list that the server does not know, and mark them as known. Returns how many
 * there are. */
unsigned handoff_news(struct simunix_handoff *news, unsigned count, unsigned most, struct thread *list)
{
    for (struct thread *thread = list; thread != NULL; thread = thread->handoff.next) {
        const struct handoff_wait *waits = &thread->handoff;

        if (!waits->is_news || count == most)
            continue;
        news[count++] = (struct simunix_handoff){.slot = thread->link.slot,
                                                 .is_ready = waits->state == HANDOFF_READY,
                                                 .wait = waits->wait,
                                                 .wake = waits->wake,
                                                 .syscall = waits->syscall,
                                                 .deadline = waits->deadline,
                                                 .blocked = waits->blocked,
                                                 .word = waits->word,
                                                 .bitset = waits->bitset};
        thread->handoff.is_news = false;
    }
    return count;
}

/* Write into the outbox how the states of waiting threads have changed since the last message. */
void handoffs_write(struct thread *thread, struct simunix_outbox *outbox)
{
    struct process *process = thread->process;
    unsigned count;

    outbox->tells_handoffs = process->handoffs.has_news || process->page->running != 0;
    if (!outbox->tells_handoffs)
        return;
    process->handoffs.has_news = false;
    count = handoff_news(outbox->news, 0, SIMUNIX_HANDOFF_MAX, process->handoffs.parked);
    outbox->news_count = handoff_news(outbox->news, count, SIMUNIX_HANDOFF_MAX, process->handoffs.ready);
    outbox->digest = process->page->handoffs_digest;
    while (process->handoffs.ready != NULL) /* from now on the server gives these threads their turns */
        handoff_remove(process->handoffs.ready);
}

/* Forget all threads, in a child process, which has none of its parent's threads. */
void handoff_forget(struct process *process)
{
    process->handoffs.parked = process->handoffs.ready = NULL;
    process->handoffs.count = process->handoffs.waiters_elsewhere = 0;
    process->handoffs.has_news = false;
}
