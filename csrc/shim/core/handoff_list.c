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

/* Tell the server what has become of waiting threads since the last message, and the message that is in the buffer of `thread`
 * with it, in one datagram. False if there is nothing to tell: nothing is sent then. */
bool handoff_tell(struct thread *thread, const struct msgpack_writer *message)
{
    struct process *process = thread->process;
    struct simunix_handoff news[SIMUNIX_HANDOFF_MAX];
    struct msgpack_writer front;
    struct msgpack_writer length;
    uint8_t front_bytes[32];
    uint8_t length_bytes[8];
    size_t size = (size_t)(message->next - thread->buffer);
    unsigned count;

    if (!thread->has_turn || (!process->has_handoff_news && process->page->running == 0))
        return false;
    process->has_handoff_news = false;
    count = handoff_news(news, 0, SIMUNIX_HANDOFF_MAX, process->parked);
    count = handoff_news(news, count, SIMUNIX_HANDOFF_MAX, process->ready);
    while (process->ready != NULL) /* the server runs them now */
        handoff_remove(process->ready);
    msgpack_start(&front, front_bytes, sizeof front_bytes);
    msgpack_put_array(&front, 4);
    msgpack_put_int(&front, OP_HANDED_OFF);
    msgpack_put_uint(&front, process->page->handoffs_digest);
    msgpack_put_length(&front, count * sizeof *news);
    msgpack_start(&length, length_bytes, sizeof length_bytes);
    msgpack_put_length(&length, size);
    parts_send(thread,
               (struct iovec[]){{front_bytes, (size_t)(front.next - front_bytes)},
                                {news, count * sizeof *news},
                                {length_bytes, (size_t)(length.next - length_bytes)},
                                {thread->buffer, size}},
               4);
    return true;
}

/* A child has none of its parent's threads. */
void handoff_forget(struct process *process)
{
    process->parked = process->ready = NULL;
    process->handoff_count = process->waiters_elsewhere = 0;
    process->has_handoff_news = false;
}
