/* Sends a request to the server and receives its reply: in the outbox (outbox.c), or over the thread's own SEQPACKET
 * socket. A thread that receives a reply has the turn.
 *
 * The caller has blocked all signals, so a message is never interrupted halfway. A process whose server is gone ends at
 * once.
 */
#include "shim/core/channel.h"
#include "shim/core/clock.h"
#include "shim/core/memory.h"

void request_begin(struct thread *thread, struct msgpack_writer *writer, int op, unsigned arguments)
{
    msgpack_start(writer, thread->buffer, sizeof thread->buffer);
    msgpack_put_array(writer, arguments + 1);
    msgpack_put_int(writer, op);
}

static _Noreturn void server_is_gone(void)
{
    long self = NATIVE(getpid);

    for (;;) {
        NATIVE(kill, self, SIGKILL);
        NATIVE(exit_group, 255);
    }
}

static int channel_of(const struct thread *thread)
{
    return descriptor_number(thread->process, thread->link.channel);
}

void request_send(struct thread *thread, const uint8_t *buffer, struct msgpack_writer *writer)
{
    long size = writer->next - buffer;

    if (writer->overflow)
        fatal("a message did not fit its buffer", NULL, size);
    if (thread->process->page != NULL)
        thread->process->page->messages++;
    if (NATIVE(sendto, channel_of(thread), buffer, size, MSG_NOSIGNAL, NULL, 0) != size)
        server_is_gone();
}

static void put_hello(struct msgpack_writer *writer, const struct thread *thread, enum simunix_hello kind, const char *program)
{
    msgpack_put_int(writer, kind + (int64_t)HELLO_REAPER * thread->process->ids.reaper);
    msgpack_put_int(writer, thread->process->ids.host_pid);
    msgpack_put_int(writer, thread->ids.host_tid);
    msgpack_put_text(writer, program, text_length(program));
}

/* Send the first message of a vfork's child, which has no answer. The buffer of the thread contains the message that
 * follows. */
void say_hello_late(struct thread *thread)
{
    struct msgpack_writer writer;
    uint8_t few[64];

    thread->link.owes_hello = false;
    msgpack_start(&writer, few, sizeof few);
    msgpack_put_array(&writer, 5);
    msgpack_put_int(&writer, OP_HELLO);
    put_hello(&writer, thread, HELLO_LATE, "");
    request_send(thread, few, &writer);
}

/* Send the message in the buffer of `thread`, without waiting for an answer. Every message but a late HELLO and a PARK
 * passes here. */
void request_post(struct thread *thread, struct msgpack_writer *writer)
{
    if (thread->link.owes_hello)
        say_hello_late(thread);
    if (may_use_outbox(thread) && !writer->overflow) {
        outbox_post(thread, writer);
    } else {
        thread->link.is_told_at_slot = false;
        request_send(thread, thread->buffer, writer);
    }
}

/* End the process if the server is gone. */
void channel_check(struct thread *thread)
{
    char byte;

    if (NATIVE(recvfrom, channel_of(thread), &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL) == 0)
        server_is_gone();
}

static int received_descriptor(const struct message_header *message)
{
    const struct control_header *header = message->control;

    if (message->control_length < sizeof *header + sizeof(int) || header->type != SCM_RIGHTS)
        return -1;
    return *(const int *)(header + 1);
}

/* Take over a reply from the first `size` bytes of the buffer. */
void reply_read(struct thread *thread, struct reply *reply, size_t size)
{
    if (msgpack_get_array(&reply->values, thread->buffer, size) != 0 || reply->values.count == 0 ||
        reply->values.kind[0] != 'i')
        fatal("the server sent something that is not a reply", NULL, (long)size);
}

/* Receive a datagram with the answer. A descriptor that comes with it is close-on-exec. */
static void channel_reply(struct thread *thread, struct reply *reply)
{
    struct iovec iov = {thread->buffer, sizeof thread->buffer};
    _Alignas(8) char control[sizeof(struct control_header) + 8];
    struct message_header message = {.iov = &iov, .iov_length = 1, .control = control, .control_length = sizeof control};
    long size = NATIVE(recvmsg, channel_of(thread), &message, MSG_CMSG_CLOEXEC);

    if (size <= 0)
        server_is_gone();
    reply->fd = received_descriptor(&message);
    reply_read(thread, reply, (size_t)size);
}

/* Wait for the server's answer, and return its status. */
int64_t reply_wait(struct thread *thread, struct reply *reply)
{
    struct pause pause = pause_begins(thread);

    if (!thread->link.is_told_at_slot || !slot_reply(thread, reply))
        channel_reply(thread, reply);
    pause_ends(thread, pause);
    reply->status = reply->values.number[0];
    thread->link.has_turn = true;
    threads_reap(thread->process);
    return reply->status;
}

/* Send a request, wait for the answer, and return its status. The time for the request and its answer does not count as
 * computing of the thread. */
int64_t request_call(struct thread *thread, struct msgpack_writer *writer, struct reply *reply)
{
    struct pause pause = pause_begins(thread);

    request_post(thread, writer);
    pause_ends(thread, pause);
    return reply_wait(thread, reply);
}

/* Return the number at place `at` of a reply; 0 if there is none. */
int64_t reply_number(const struct reply *reply, int at)
{
    return at < reply->values.count && reply->values.kind[at] == 'i' ? reply->values.number[at] : 0;
}

/* Send a request whose arguments are all integers, and return the status of the answer. */
int64_t ask(struct thread *thread, struct reply *reply, int op, unsigned count, const int64_t *values)
{
    struct msgpack_writer writer;

    request_begin(thread, &writer, op, count);
    for (unsigned i = 0; i < count; i++)
        msgpack_put_int(&writer, values[i]);
    return request_call(thread, &writer, reply);
}

/* Copy the byte string at place `at` of a reply, as far as there is room. Returns how many bytes. */
size_t reply_bytes(const struct reply *reply, int at, void *to, size_t room)
{
    size_t length = at < reply->values.count && reply->values.kind[at] == 'b' ? reply->values.length[at] : 0;

    if (length > room)
        length = room;
    memcpy(to, reply->values.bytes[at], length);
    return length;
}

/* Send the first message of a process, a program (after an exec) or a thread. The first message goes over the channel,
 * which tells the server the sender's real number. The server may not know this number yet if the child of a vfork has
 * begun the
 * program. */
int64_t say_hello(struct thread *thread, enum simunix_hello kind, const char *program, struct reply *reply)
{
    struct msgpack_writer writer;

    request_start(thread, &writer, OP_HELLO);
    put_hello(&writer, thread, kind, program);
    thread->link.is_told_at_slot = false;
    request_send(thread, thread->buffer, &writer);
    if (may_use_outbox(thread))
        doorbell_ring(thread->process->page);
    return reply_wait(thread, reply);
}

/* Return the nanoseconds since the caller's host has booted, before the run or during it. CLOCK_MONOTONIC and
 * CLOCK_BOOTTIME of clock_gettime(2), however, count from before the run on all hosts. */
int64_t host_uptime_ns(struct thread *thread)
{
    const struct simunix_clock_page *clock = thread->process->page;
    struct reply reply;

    if ((thread->process->flags & HELLO_FLAG_REBOOTED) && ASK(thread, &reply, OP_HOST) == 0)
        return (int64_t)clock->now_ns - reply_number(&reply, HOST_BOOTED);
    return (int64_t)clock->now_ns + clock->monotonic_ns;
}
