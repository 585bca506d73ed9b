/* Waiting at futex words, waking and moving waiters. The word is checked while holding the turn, so nothing can change between
 * the check and the wait. */
#include "shim/core/channel.h"
#include "shim/sys/ipc/ipc.h"
#include "shim/turn/turn.h"

#define WAKES_BEFORE_YIELD 32
#define LOOK_AGAIN (-1) /* no thread has woken this thread: rsg_server/process/futex.py */

long futex_check_word(const uint32_t *word)
{
    if (((uint64_t)word & 3) != 0)
        return -EINVAL;
    return is_bad_pointer(word) ? -EFAULT : 0;
}

/* Return whether a word has changed as the kernel changes it at the death of a thread: it marks a robust lock, and
 * clears a thread's number. */
static bool changed_by_death(const uint32_t *word, uint32_t expected)
{
    uint32_t now = __atomic_load_n(word, __ATOMIC_SEQ_CST);

    return now != expected && (now == 0 || (now & FUTEX_OWNER_DIED) != 0);
}

long futex_wait(struct call *call, uint32_t *word, bool is_private, uint32_t expected, int64_t deadline, uint32_t bitset)
{
    struct process *process = call->thread->process;
    uint64_t key[2];
    long result;

    if (bitset == 0)
        return -EINVAL;
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != expected)
        return -EAGAIN;
    futex_key(process, (uint64_t)word, is_private, key);
    struct wait wait = {
        .kind = PARK_FUTEX, .deadline = deadline, .a = key[0], .b = key[1], .c = bitset, .by_handoff = key[0] == 0};
    do {
        futex_count_waiter(process, key, 1);
        result = wait_on(call, &wait, deadline == NEVER);
        futex_count_waiter(process, key, -1);
    } while (result == WAKE_READY && wait.value == LOOK_AGAIN && !changed_by_death(word, expected));
    return result == WAKE_TIMEOUT ? -ETIMEDOUT : result;
}

/* Let the woken threads go first now and then, as on a real computer they sometimes would. Otherwise a thread that
 * unlocks and locks again in one turn, on and on, would keep them out for ever. */
static long let_pass(struct call *call, long woken)
{
    struct wait wait = {.kind = PARK_YIELD, .deadline = NEVER};

    if (woken > 0 && ++call->thread->wakes % WAKES_BEFORE_YIELD == 0)
        park(call, &wait);
    return woken;
}

long futex_wake(struct call *call, uint32_t *word, bool is_private, int64_t most, uint32_t bitset)
{
    struct process *process = call->thread->process;
    uint64_t key[2];
    struct reply reply;
    long woken;

    if (bitset == 0)
        return -EINVAL;
    futex_key(process, (uint64_t)word, is_private, key);
    if (!futex_has_waiters(process, key))
        return 0;
    if (key[0] == 0 && handoff_wake(process, key[1], most > 0 ? most : 1, bitset, &woken))
        return let_pass(call, woken);
    woken = ASK(call->thread, &reply, OP_WAKE, (int64_t)key[0], (int64_t)key[1], most > 0 ? most : 1, bitset);
    if (key[0] == 0)
        handoff_doubt(process, key[1]);
    return let_pass(call, woken);
}

/* Move waiters to another word. A moved waiter stays counted under its first word, whose count stays too high. This
 * does no harm, since the counts only save messages. */
long futex_requeue(struct call *call, const struct futex_pair *pair, int64_t wake, int64_t move)
{
    struct process *process = call->thread->process;
    uint64_t from[2];
    uint64_t to[2];
    struct reply reply;

    if (wake < 0 || move < 0)
        return -EINVAL;
    futex_key(process, (uint64_t)pair->from, pair->from_private, from);
    futex_key(process, (uint64_t)pair->to, pair->to_private, to);
    if (ASK(call->thread, &reply, OP_REQUEUE, (int64_t)from[0], (int64_t)from[1], (int64_t)to[0], (int64_t)to[1], wake, move) <
        0)
        return reply.status;
    handoff_requeue(process, from, to, reply.status, reply_number(&reply, 1));
    if (reply_number(&reply, 1) > 0)
        futex_count_waiter(process, to, 1);
    return reply.status + reply_number(&reply, 1);
}
