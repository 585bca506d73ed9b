/* The outbox: what the thread that has the turn says to the server lies in the shared memory, and so does the answer.
 *
 * A message and its answer cost four system calls of futex(2) that way, two of them the server's: the doorbell wakes the
 * server, the slot wakes the thread. Descriptors cannot lie in memory: an answer with some comes over the thread's channel,
 * which the slot says.
 */
#include "shared/slots.h"
#include "shim/core/channel.h"
#include "shim/core/memory.h"

_Static_assert(SIMUNIX_OUTBOX_OFFSET + sizeof(struct simunix_outbox) + sizeof(struct simunix_inbox) <= SIMUNIX_SHARED_BYTES,
               "outbox and inbox do not fit");

static void *behind(struct simunix_clock_page *page, size_t offset)
{
    return (char *)page + offset;
}

struct simunix_outbox *outbox_of(const struct thread *thread)
{
    return behind(thread->process->page, SIMUNIX_OUTBOX_OFFSET);
}

static struct simunix_inbox *inbox_of(const struct thread *thread)
{
    return behind(thread->process->page, SIMUNIX_OUTBOX_OFFSET + sizeof(struct simunix_outbox));
}

/* May the thread use the outbox? It may not before it has the turn: a forked child says HELLO while its creator has the
 * turn. */
bool may_use_outbox(const struct thread *thread)
{
    return thread->link.has_turn && thread->process->page != NULL;
}

/* Wake the server, if it sleeps: most messages come before it has got there. One of the two sees what the other has written,
 * since each writes before it reads. */
void doorbell_ring(struct simunix_clock_page *page)
{
    __atomic_fetch_add((uint32_t *)&page->doorbell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&page->listens, __ATOMIC_SEQ_CST) != 0)
        NATIVE(futex, &page->doorbell, FUTEX_WAKE, 1);
}

/* Tell the server that the outbox, which has been filled, holds a message. */
void outbox_send(struct thread *thread, enum simunix_asked asked)
{
    struct simunix_outbox *outbox = outbox_of(thread);
    struct simunix_clock_page *page = thread->process->page;

    handoffs_write(thread, outbox);
    outbox->slot = thread->link.slot;
    thread->link.is_told_at_slot = thread->link.slot != 0;
    page->messages++;
    __atomic_store_n(&outbox->is_asked, asked, __ATOMIC_RELEASE);
    doorbell_ring(page);
}

/* Send what is in the buffer of a thread. */
void outbox_post(struct thread *thread, const struct msgpack_writer *writer)
{
    struct simunix_outbox *outbox = outbox_of(thread);

    outbox->length = (uint32_t)(writer->next - thread->buffer);
    memcpy(outbox->message, thread->buffer, outbox->length);
    outbox_send(thread, ASKED_MESSAGE);
}

/* May the thread ask in its box (rsg_protocol.h), where the server looks when the doorbell rings? Not if the server must learn
 * of more than the request. */
bool may_ask_in_box(const struct thread *thread)
{
    const struct process *process = thread->process;

    return thread->link.slot != 0 && thread->link.has_turn && !thread->link.owes_hello && process->page->running == 0 &&
           !process->handoffs.has_news;
}

/* Tell the server that the thread's box has a request. */
void box_post(const struct thread *thread, struct simunix_rsg_box *box)
{
    thread->process->page->messages++;
    __atomic_store_n(&box->is_asked, 1, __ATOMIC_RELEASE);
    doorbell_ring(thread->process->page);
}

/* Where no namespace ends this process with the server, a waiting thread looks now and then whether the server is there. */
static const struct kernel_timespec *patience(const struct process *process)
{
    static const struct kernel_timespec second = {1, 0};

    return process->flags & HELLO_FLAG_FAKE_NAME ? &second : NULL;
}

/* Sleep until the thread's slot has an answer, which nobody overwrites before the thread has given the turn back. */
const struct simunix_slot *slot_sleep(struct thread *thread)
{
    struct simunix_slot *slot = slot_at(thread->process->page, thread->link.slot);

    while (__atomic_load_n(&slot->word, __ATOMIC_ACQUIRE) == SLOT_WAITS)
        if (NATIVE(futex, &slot->word, FUTEX_WAIT, SLOT_WAITS, patience(thread->process)) == -ETIMEDOUT)
            channel_check(thread);
    slot->word = SLOT_WAITS;
    return slot;
}

/* Wait for the answer to a message of the outbox; false if it comes over the channel. */
bool slot_reply(struct thread *thread, struct reply *reply)
{
    const struct simunix_slot *slot = slot_sleep(thread);
    const struct simunix_inbox *inbox = inbox_of(thread);
    size_t length = inbox->length;

    if (slot->wake == SLOT_CHANNEL)
        return false;
    reply->fd = -1;
    if (slot->wake == SLOT_STATUS) {
        reply->values.count = 1;
        reply->values.kind[0] = 'i';
        reply->values.number[0] = slot->value;
        return true;
    }
    if (length > sizeof thread->buffer)
        fatal("the server's answer does not fit", NULL, (long)length);
    memcpy(thread->buffer, inbox->message, length);
    reply_read(thread, reply, length);
    return true;
}
