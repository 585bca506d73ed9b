/* The outbox: the thread that has the turn writes its message to the server into shared memory, and the server writes
 * the answer there.
 *
 * So a message and its answer cost four calls of futex(2), two by the shim and two by the server: the doorbell wakes
 * the server, the slot wakes the thread. Descriptors cannot be passed in memory: an answer with descriptors comes over
 * the thread's channel, and the slot says so.
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

/* Return whether a thread may use the outbox. A thread may not use the outbox before it has the turn: a forked child
 * sends HELLO while its creator has the turn. */
bool may_use_outbox(const struct thread *thread)
{
    return thread->link.has_turn && thread->process->page != NULL;
}

/* Wake the server if it sleeps. Most messages come before the server sleeps. Shim and server each write their word
 * before they read the other's, so at least one of the two notices the other. */
void doorbell_ring(struct simunix_clock_page *page)
{
    __atomic_fetch_add((uint32_t *)&page->doorbell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&page->listens, __ATOMIC_SEQ_CST) != 0)
        NATIVE(futex, &page->doorbell, FUTEX_WAKE, 1);
}

/* Tell the server that the outbox contains a message. */
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

/* Put the message in the buffer of a thread into the outbox, and tell the server. */
void outbox_post(struct thread *thread, const struct msgpack_writer *writer)
{
    struct simunix_outbox *outbox = outbox_of(thread);

    outbox->length = (uint32_t)(writer->next - thread->buffer);
    memcpy(outbox->message, thread->buffer, outbox->length);
    outbox_send(thread, ASKED_MESSAGE);
}

/* Return whether a thread may put a request into its box (rsg_protocol.h), where the server looks when the doorbell
 * rings. A thread may not use its box if it has more to report to the server than the request. */
bool may_ask_in_box(const struct thread *thread)
{
    const struct process *process = thread->process;

    return thread->link.slot != 0 && thread->link.has_turn && !thread->link.owes_hello && process->page->running == 0 &&
           !process->handoffs.has_news;
}

/* Tell the server that the thread's box contains a request. */
void box_post(const struct thread *thread, struct simunix_rsg_box *box)
{
    thread->process->page->messages++;
    __atomic_store_n(&box->is_asked, 1, __ATOMIC_RELEASE);
    doorbell_ring(thread->process->page);
}

/* Return how long a waiting thread sleeps at most before it looks whether the server is still there. If the host has a
 * PID namespace, the kernel ends this process together with the server, and the thread need not look. */
static const struct kernel_timespec *patience(const struct process *process)
{
    static const struct kernel_timespec second = {1, 0};

    return process->flags & HELLO_FLAG_FAKE_NAME ? &second : NULL;
}

/* Sleep until the thread's slot has an answer. No other answer overwrites it before the thread has given the turn back. */
const struct simunix_slot *slot_sleep(struct thread *thread)
{
    struct simunix_slot *slot = slot_at(thread->process->page, thread->link.slot);

    while (__atomic_load_n(&slot->word, __ATOMIC_ACQUIRE) == SLOT_WAITS)
        if (NATIVE(futex, &slot->word, FUTEX_WAIT, SLOT_WAITS, patience(thread->process)) == -ETIMEDOUT)
            channel_check(thread);
    slot->word = SLOT_WAITS;
    return slot;
}

/* Wait for the answer to a message in the outbox. Returns false if the answer comes over the channel. */
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
