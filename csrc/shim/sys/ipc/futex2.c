/* The futex calls of Linux 5.16 and 6.7: waiting at several words, and one call for each operation. */
#include "shim/core/channel.h"
#include "shim/core/clock.h"
#include "shim/sys/ipc/ipc.h"
#include "shim/turn/turn.h"

#define SIZE_MASK 3
#define SIZE_U32 2
#define WORDS_MAX 128 /* FUTEX_WAITV_MAX */

/* Return whether the flags are valid: only words of 32 bits, in the memory of this process or shared, as in released
 * kernels. */
static bool valid_flags(uint32_t flags)
{
    return (flags & SIZE_MASK) == SIZE_U32 && (flags & ~(uint32_t)(SIZE_MASK | FUTEX_PRIVATE_FLAG)) == 0;
}

static long absolute_deadline(struct call *call, const struct kernel_timespec *timeout, long clock, int64_t *deadline)
{
    if (timeout != NULL && clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
        return -EINVAL;
    return clock_read_deadline(call->thread, (int)clock, timeout, true, deadline);
}

static long check_waiter(const struct futex_waitv *waiter)
{
    if (!valid_flags(waiter->flags) || waiter->__reserved != 0)
        return -EINVAL;
    return futex_check_word((const uint32_t *)waiter->uaddr);
}

/* Check that all words have the expected values, then tell the server where the next PARK waits. */
static long announce(struct call *call, const struct futex_waitv *waiters, unsigned count, uint64_t *keys)
{
    struct msgpack_writer writer;
    struct reply reply;

    for (unsigned i = 0; i < count; i++) {
        if (__atomic_load_n((uint32_t *)waiters[i].uaddr, __ATOMIC_SEQ_CST) != (uint32_t)waiters[i].val)
            return -EAGAIN;
        futex_key(call->thread->process, waiters[i].uaddr, (waiters[i].flags & FUTEX_PRIVATE_FLAG) != 0, keys + 2 * i);
    }
    request_start(call->thread, &writer, OP_FUTEX_WORDS);
    msgpack_put_bytes(&writer, keys, 2 * sizeof *keys * count);
    return request_call(call->thread, &writer, &reply);
}

static void count_waiter(struct call *call, const uint64_t *keys, unsigned count, int change)
{
    for (unsigned i = 0; i < count; i++)
        futex_count_waiter(call->thread->process, keys + 2 * i, change);
}

/* Returns the index of a word that was woken. If the thread was woken for another reason, the index of the first word
 * is returned, and the caller looks again. */
long sys_futex_waitv(struct call *call)
{
    const struct futex_waitv *waiters = (void *)call->a[0];
    unsigned count = (unsigned)call->a[1];
    struct wait wait = {.kind = PARK_FUTEX, .a = SPACE_MANY, .b = count, .c = FUTEX_BITSET_MATCH_ANY};
    uint64_t keys[2 * WORDS_MAX];
    long result;

    if (call->a[2] != 0 || count == 0 || count > WORDS_MAX || waiters == NULL)
        return -EINVAL;
    result = absolute_deadline(call, (void *)call->a[3], call->a[4], &wait.deadline);
    if (result == 0 && is_bad_pointer(waiters))
        result = -EFAULT;
    for (unsigned i = 0; i < count && result == 0; i++)
        result = check_waiter(&waiters[i]);
    if (result == 0)
        result = announce(call, waiters, count, keys);
    if (result != 0)
        return result;
    count_waiter(call, keys, count, 1);
    call->thread->process->handoffs.waiters_elsewhere++;
    result = wait_on(call, &wait, true);
    call->thread->process->handoffs.waiters_elsewhere--;
    count_waiter(call, keys, count, -1);
    if (result < 0)
        return result;
    return result == WAKE_TIMEOUT ? -ETIMEDOUT : wait.value;
}

/* futex_wait(word, value, mask, flags, absolute timeout, clock) */
long sys_futex_wait(struct call *call)
{
    uint32_t *word = (void *)call->a[0];
    int64_t deadline;
    long result = valid_flags((uint32_t)call->a[3]) ? futex_check_word(word) : -EINVAL;

    if (result == 0)
        result = absolute_deadline(call, (void *)call->a[4], call->a[5], &deadline);
    if (result != 0)
        return result;
    if ((uint64_t)call->a[1] >> 32 != 0 || (uint64_t)call->a[2] >> 32 != 0)
        return -EINVAL;
    return futex_wait(call, word, (call->a[3] & FUTEX_PRIVATE_FLAG) != 0, (uint32_t)call->a[1], deadline, (uint32_t)call->a[2]);
}

/* futex_wake(word, mask, count, flags) */
long sys_futex_wake(struct call *call)
{
    uint32_t *word = (void *)call->a[0];
    long result = valid_flags((uint32_t)call->a[3]) ? futex_check_word(word) : -EINVAL;

    if (result != 0)
        return result;
    if ((uint64_t)call->a[1] >> 32 != 0)
        return -EINVAL;
    if ((int)call->a[2] <= 0) /* here 0 means that no waiter is woken; futex(2) takes 0 as 1 */
        return 0;
    return futex_wake(call, word, (call->a[3] & FUTEX_PRIVATE_FLAG) != 0, (int)call->a[2], (uint32_t)call->a[1]);
}

/* futex_requeue(two waiters, flags, wake, move): acts if the first word has the expected value */
long sys_futex_requeue(struct call *call)
{
    const struct futex_waitv *waiters = (void *)call->a[0];
    struct futex_pair pair;
    long result;

    if (call->a[1] != 0 || (int)call->a[2] < 0 || (int)call->a[3] < 0 || waiters == NULL)
        return -EINVAL;
    if (is_bad_pointer(waiters))
        return -EFAULT;
    result = check_waiter(&waiters[0]);
    if (result == 0)
        result = check_waiter(&waiters[1]);
    if (result != 0)
        return result;
    pair = (struct futex_pair){(uint32_t *)waiters[0].uaddr, (uint32_t *)waiters[1].uaddr,
                               (waiters[0].flags & FUTEX_PRIVATE_FLAG) != 0, (waiters[1].flags & FUTEX_PRIVATE_FLAG) != 0};
    if (*pair.from != (uint32_t)waiters[0].val)
        return -EAGAIN;
    return futex_requeue(call, &pair, (int)call->a[2], (int)call->a[3]);
}
