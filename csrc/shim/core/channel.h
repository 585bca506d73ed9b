/* One request, one reply, over the thread's own SEQPACKET socket to the server. */
#ifndef SIMUNIX_CHANNEL_H
#define SIMUNIX_CHANNEL_H

#include "shared/msgpack.h"
#include "shim/core/core.h"

struct reply {
    int64_t status;
    int fd; /* -1 if none came */
    struct msgpack_array values;
};

void request_start(struct thread *thread, struct msgpack_writer *writer, int op, unsigned arguments);
void request_post(struct thread *thread, struct msgpack_writer *writer);
int64_t request_call(struct thread *thread, struct msgpack_writer *writer, struct reply *reply);
int64_t reply_wait(struct thread *thread, struct reply *reply);
int64_t reply_number(const struct reply *reply, int at);
int64_t host_uptime_ns(struct thread *thread);
size_t reply_bytes(const struct reply *reply, int at, void *to, size_t room);
bool handoff_tell(struct thread *thread, const struct msgpack_writer *message); /* handoff_list.c */
void parts_send(struct thread *thread, struct iovec *parts, size_t count);
void request_send(struct thread *thread, const uint8_t *buffer, struct msgpack_writer *writer);
bool may_ask_in_box(const struct thread *thread);
void box_post(const struct thread *thread, struct simunix_rsg_box *box);
void channel_check(struct thread *thread);
void say_hello_late(struct thread *thread);
int64_t say_hello(struct thread *thread, enum simunix_hello kind, const char *program, struct reply *reply);
int64_t ask(struct thread *thread, struct reply *reply, int op, unsigned count, const int64_t *values);
#define ASK(thread, reply, op, ...) \
    ask(thread, reply, op, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

#endif
