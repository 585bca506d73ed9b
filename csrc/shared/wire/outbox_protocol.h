/* The outbox and the inbox in shared memory: the message of the thread that has the turn, and its answer. This file is
 * a part of protocol.h and, like it, contains only enums, structs and integer defines. */
#ifndef SIMUNIX_OUTBOX_PROTOCOL_H
#define SIMUNIX_OUTBOX_PROTOCOL_H

#include <stdint.h>

#define SIMUNIX_MESSAGE_MAX 4096
#define SIMUNIX_HANDOFF_MAX 32
#define SIMUNIX_OUTBOX_OFFSET 14942208

/* The state of a thread after the turn was given to another thread without the server: the thread waits as these
 * arguments of PARK say (a is 0), or is ready because of `wake`. The structs are in the order in which the threads
 * began to wait or became ready. */
struct simunix_handoff {
    uint32_t slot;
    int16_t is_ready;
    int16_t wait;
    int32_t wake;
    int32_t syscall;
    int64_t deadline;
    uint64_t blocked;
    uint64_t word;
    uint64_t bitset;
};

/* The arguments of OP_PARK for a thread that waits at its slot. `by_handoff`: other threads of the process may wake the
 * thread (handoff.c). */
struct simunix_park {
    int32_t wait;
    int32_t syscall;
    int64_t deadline;
    uint64_t blocked;
    uint64_t a;
    uint64_t b;
    uint64_t c;
    int64_t by_handoff;
};

/* The message of the thread that has the turn, of which there is one at a time. The sender of a message writes the
 * other fields, sets `is_asked`, and rings the doorbell; the server copies what it reads, since any process can write
 * here.
 *
 * With `tells_handoffs` the sender has got the turn without the server, or has made other threads of its process ready.
 * The message then has the digest of all hand-offs, and a struct simunix_handoff for each thread of the process whose
 * state has changed; these states hold after the changes in the journal. */
struct simunix_outbox {
    uint32_t is_asked; /* a value of enum simunix_asked */
    uint32_t slot;     /* the slot at which the sender waits for the answer; 0: at its channel */
    uint32_t length;   /* the number of bytes of the message */
    uint32_t tells_handoffs;
    uint64_t digest;
    uint64_t news_count;
    struct simunix_park park;
    struct simunix_handoff news[SIMUNIX_HANDOFF_MAX];
    uint8_t message[SIMUNIX_MESSAGE_MAX];
};

/* The content of the outbox: nothing; a message; the arguments of PARK, by which a thread gives the turn back. */
enum simunix_asked { ASKED_NOTHING = 0, ASKED_MESSAGE = 1, ASKED_TO_PARK = 2 };

/* The inbox: the answer to the thread that gets the turn together with this answer (SLOT_INBOX). The inbox is behind
 * the outbox in shared memory. */
struct simunix_inbox {
    uint64_t length;
    uint8_t message[SIMUNIX_MESSAGE_MAX];
};

/* In a slot, in the place of the reason of a wake: where the answer to a message in the outbox is. SLOT_STATUS: the
 * answer is only a status, which is the slot's value. SLOT_INBOX: the answer is in the inbox. The last value: the
 * answer comes over the channel, with descriptors. */
enum simunix_slot_reply { SLOT_STATUS = 64, SLOT_INBOX = 65, SLOT_CHANNEL = 66 };

#endif
