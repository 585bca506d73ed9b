/* The message of the thread that has the turn, and its answer, in the shared memory. A part of protocol.h, and read as that is:
 * nothing but enums, structs and integer defines. */
#ifndef SIMUNIX_OUTBOX_PROTOCOL_H
#define SIMUNIX_OUTBOX_PROTOCOL_H

#include <stdint.h>

#define SIMUNIX_MESSAGE_MAX 4096
#define SIMUNIX_HANDOFF_MAX 32
#define SIMUNIX_OUTBOX_OFFSET 14942208

/* What has become of a thread while the turn went on without the server: it waits as these arguments of PARK say (a is 0), or
 * is ready because of `wake`. In the order in which they began to. */
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

/* The arguments of OP_PARK, of a thread that waits at its slot; `by_handoff`: other threads of the process may wake it
 * (handoff.c). */
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

/* The message of the thread that has the turn, of which there is one at a time. Its sender writes the rest, sets `is_asked`,
 * and rings the doorbell; the server copies what it reads, since any process can write here.
 *
 * With `tells_handoffs` the sender has got the turn without the server, or has made siblings ready: the digest of all
 * hand-offs, and a struct simunix_handoff for each thread of the process of which there is news, valid after the journal. */
struct simunix_outbox {
    uint32_t is_asked; /* enum simunix_asked */
    uint32_t slot;     /* where the sender waits for the answer; 0: at its channel */
    uint32_t length;   /* bytes of the message */
    uint32_t tells_handoffs;
    uint64_t digest;
    uint64_t news_count;
    struct simunix_park park;
    struct simunix_handoff news[SIMUNIX_HANDOFF_MAX];
    uint8_t message[SIMUNIX_MESSAGE_MAX];
};

/* What the outbox holds: nothing; a message; the arguments of a thread that gives the turn back. */
enum simunix_asked { ASKED_NOTHING = 0, ASKED_MESSAGE = 1, ASKED_TO_PARK = 2 };

/* The answer to the thread that gets the turn by it (SLOT_INBOX). It lies behind the outbox. */
struct simunix_inbox {
    uint64_t length;
    uint8_t message[SIMUNIX_MESSAGE_MAX];
};

/* In the place of a wake, the answer to a message of the outbox: a status and nothing else, which is the slot's value; what
 * lies in the inbox; what comes over the channel, with descriptors. */
enum simunix_slot_reply { SLOT_STATUS = 64, SLOT_INBOX = 65, SLOT_CHANNEL = 66 };

#endif
