/* Records the turns that the server gives, for the digest of the event log. Python takes the bytes out before it adds
 * an event. */
#ifndef SIMUNIX_TURN_LOG_H
#define SIMUNIX_TURN_LOG_H

#include <stdint.h>

/* cffi: begin */
struct turn_log {
    uint64_t turns;    /* the number of turns that the server has given */
    uint64_t handoffs; /* the digest of the turns that threads have given each other */
    uint32_t used;     /* the number of bytes that Python has not taken out */
    uint8_t bytes[65536];
};

void turn_log_turn(struct turn_log *log, uint64_t now_ns, uint32_t actor, uint8_t wake);
void turn_log_handoffs(struct turn_log *log, uint64_t digest);
/* cffi: end */

#define TURN_LOG_SPARE 64 /* a size that one turn, with the hand-offs before it, never exceeds */

int turn_log_is_full(const struct turn_log *log);

#endif
