#include "turn/turn_log.h"

#include <string.h>

static void append(struct turn_log *log, const void *bytes, uint32_t count)
{
    if (count > sizeof log->bytes - log->used)
        return; /* the caller has checked that there is room */
    memcpy(log->bytes + log->used, bytes, count);
    log->used += count;
}

/* Count a turn, and add its moment, the actor's number and the reason to the log. */
void turn_log_turn(struct turn_log *log, uint64_t now_ns, uint32_t actor, uint8_t wake)
{
    log->turns++;
    append(log, &now_ns, sizeof now_ns);
    append(log, &actor, sizeof actor);
    append(log, &wake, sizeof wake);
}

/* Add the digest of the turns that threads have given each other without the server, if it has changed. */
void turn_log_handoffs(struct turn_log *log, uint64_t digest)
{
    if (digest == log->handoffs)
        return;
    log->handoffs = digest;
    append(log, &digest, sizeof digest);
}

int turn_log_is_full(const struct turn_log *log)
{
    return log->used > sizeof log->bytes - TURN_LOG_SPARE;
}
