/* Sends a request to the server and receives its reply: by the outbox in shared memory, or over the thread's own
 * SEQPACKET socket. */
#ifndef SIMUNIX_CHANNEL_H
#define SIMUNIX_CHANNEL_H

#include "shared/msgpack.h"
#include "shim/core/core.h"

struct reply {
    int64_t status;
    int fd; /* the descriptor that came with the reply; -1: none came */
    struct msgpack_array values;
};

void request_begin(struct thread *thread, struct msgpack_writer *writer, int op, unsigned arguments);
void request_post(struct thread *thread, struct msgpack_writer *writer);
int64_t request_call(struct thread *thread, struct msgpack_writer *writer, struct reply *reply);
int64_t reply_wait(struct thread *thread, struct reply *reply);
int64_t reply_number(const struct reply *reply, int at);
int64_t host_uptime_ns(struct thread *thread);
size_t reply_bytes(const struct reply *reply, int at, void *to, size_t room);
void reply_read(struct thread *thread, struct reply *reply, size_t size);
void request_send(struct thread *thread, const uint8_t *buffer, struct msgpack_writer *writer);
void channel_check(struct thread *thread);
void say_hello_late(struct thread *thread);
int64_t say_hello(struct thread *thread, enum simunix_hello kind, const char *program, struct reply *reply);
int64_t ask(struct thread *thread, struct reply *reply, int op, unsigned count, const int64_t *values);

/* outbox.c */
struct simunix_outbox *outbox_of(const struct thread *thread);
bool may_use_outbox(const struct thread *thread);
void outbox_post(struct thread *thread, const struct msgpack_writer *writer);
void doorbell_ring(struct simunix_clock_page *page);
void outbox_send(struct thread *thread, enum simunix_asked asked);
bool may_ask_in_box(const struct thread *thread);
void box_post(const struct thread *thread, struct simunix_rsg_box *box);
const struct simunix_slot *slot_sleep(struct thread *thread);
bool slot_reply(struct thread *thread, struct reply *reply);
void handoffs_write(struct thread *thread, struct simunix_outbox *outbox); /* handoff_list.c */

/* The number of fields of a message is in the table of messages (messages.def). */
#define request_start(thread, writer, op) request_begin(thread, writer, op, FIELDS_OF_##op)

/* A message of integers only. The build fails if their number is not that of the table of messages. */
#define VALUES(...) sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)
#define AS_THE_TABLE_SAYS(op, count)                                                                     \
    (0 * sizeof(struct {                                                                                 \
         _Static_assert((count) == FIELDS_OF_##op, #op " has another number of fields in messages.def"); \
         int unused;                                                                                     \
     }))
#define ASK(thread, reply, op, ...) \
    ask(thread, reply, op, VALUES(__VA_ARGS__) + AS_THE_TABLE_SAYS(op, VALUES(__VA_ARGS__)), (const int64_t[]){__VA_ARGS__})

#endif
