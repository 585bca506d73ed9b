/* The lists of threads that others of their process may wake without the server, and what the server must learn of them.
 *
 * Before a thread sends a message the server learns what has become of these threads since the last one: request_post, which
 * every message passes, calls handoff_tell first. turn/handoff.c decides what becomes of them.
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
    return thread->handoff.state == HANDOFF_READY ? &thread->process->ready : &thread->process->parked;
}

/* The thread has the turn, or waits for something that only the server can bring. */
void handoff_remove(struct thread *thread)
{
    if (thread->handoff.state == HANDOFF_NONE)
        return;
    handoff_take(list_of(thread), thread);
    thread->handoff.state = HANDOFF_NONE;
    thread->process->handoff_count--;
}

/* Write down those threads of a list of which the server does not know, and count them as known. */
unsigned handoff_news(struct simunix_handoff *news, unsigned count, unsigned most, struct thread *list)
{
    for (struct thread *thread = list; thread != NULL; thread = thread->handoff.next) {
        const struct handoff_wait *waits = &thread->handoff;

        if (!waits->is_news || count == most)
            continue;
        news[count++] = (struct simunix_handoff){.slot = thread->slot,
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

/* A waiting thread, whose buffer is free; the speaker's own holds the message that it is about to send. */
static struct thread *scribe_for(const struct thread *speaker)
{
    struct thread *scribe = speaker->process->ready != NULL ? speaker->process->ready : speaker->process->parked;

    return scribe == speaker ? speaker->handoff.next : scribe;
}

/* Tell the server what has become of waiting threads since the last message. */
void handoff_tell(struct thread *thread)
{
    struct process *process = thread->process;
    struct simunix_handoff news[SIMUNIX_HANDOFF_MAX];
    struct msgpack_writer writer;
    uint8_t few[64];
    struct thread *scribe = scribe_for(thread);
    uint8_t *buffer = scribe != NULL ? scribe->buffer : few;
    unsigned count;

    if (!thread->has_turn || (!process->has_handoff_news && process->page->running == 0))
        return;
    process->has_handoff_news = false;
    count = handoff_news(news, 0, SIMUNIX_HANDOFF_MAX, process->parked);
    count = handoff_news(news, count, SIMUNIX_HANDOFF_MAX, process->ready);
    while (process->ready != NULL) /* the server runs them now */
        handoff_remove(process->ready);
    msgpack_start(&writer, buffer, scribe != NULL ? sizeof scribe->buffer : sizeof few);
    msgpack_put_array(&writer, 3);
    msgpack_put_int(&writer, OP_HANDED_OFF);
    msgpack_put_uint(&writer, process->page->handoffs_digest);
    msgpack_put_bytes(&writer, news, count * sizeof *news);
    request_send(thread, buffer, &writer);
}

/* A child has none of its parent's threads. */
void handoff_forget(struct process *process)
{
    process->parked = process->ready = NULL;
    process->handoff_count = process->waiters_elsewhere = 0;
    process->has_handoff_news = false;
}
