/* Futexes whose word names the owning thread: priority-inheriting locks and robust lists.
 *
 * Computing takes no time, so priorities need not decide anything: a lock passes to the thread that has waited longest,
 * as the kernel does among equals. The words have the kernel's layout, since the kernel itself walks over robust lists
 * at the death of a process. */
#include "shim/core/channel.h"
#include "shim/pids/pids.h"
#include "shim/sys/ipc/ipc.h"

#define ROBUST_MAX 2048 /* ROBUST_LIST_LIMIT: lists may be circles */
#define PI_MARK 1UL

struct robust_head {
    uint64_t next;
    int64_t offset;
    uint64_t pending;
};

static uint32_t owner_of(uint32_t value)
{
    return value & FUTEX_TID_MASK;
}

/* Pass a lock to its first waiter, the next owner, which sees `more` bits (FUTEX_OWNER_DIED) in the word. Returns false
 * if no thread waits. */
static bool pass_lock(struct call *call, uint32_t *word, bool is_private, uint32_t more)
{
    uint64_t key[2];
    struct reply reply;
    long owner;

    futex_key(call->thread->process, (uint64_t)word, is_private, key);
    owner = ASK(call->thread, &reply, OP_PASS_LOCK, (int64_t)key[0], (int64_t)key[1]);
    if (owner <= 0)
        return false;
    *word = (uint32_t)pid_shown(call->thread->process, owner) | more | (reply_number(&reply, 1) != 0 ? FUTEX_WAITERS : 0);
    return true;
}

/* Try to take a lock. Returns 0 if this thread has it now, -EBUSY if another thread has it. */
static long take(struct call *call, uint32_t *word)
{
    uint32_t tid = (uint32_t)call->thread->ids.tid;

    if (owner_of(*word) != 0)
        return owner_of(*word) == tid ? -EDEADLK : -EBUSY;
    *word = tid | (*word & (FUTEX_OWNER_DIED | FUTEX_WAITERS));
    return 0;
}

/* Wait until the lock has passed to this thread, or until its owner's process has died. Signals do not end the wait. */
static long wait_for_owner(struct call *call, uint32_t *word, bool is_private, int64_t deadline)
{
    for (;;) {
        long result = take(call, word);

        if (result != -EBUSY)
            return result;
        *word |= FUTEX_WAITERS;
        result = futex_wait(call, word, is_private, *word, deadline, FUTEX_BITSET_MATCH_ANY);
        if (result == -EINTR)
            return -ERESTART_CALL;
        if (result < 0)
            return result;
        if (owner_of(*word) == (uint32_t)call->thread->ids.tid)
            return 0;
    }
}

long futex_lock_pi(struct call *call, uint32_t *word, bool is_private, int64_t deadline, bool try_only)
{
    long result = take(call, word);

    if (result != -EBUSY)
        return result;
    return try_only ? -EAGAIN : wait_for_owner(call, word, is_private, deadline);
}

long futex_unlock_pi(struct call *call, uint32_t *word, bool is_private)
{
    if (owner_of(*word) != (uint32_t)call->thread->ids.tid)
        return -EPERM;
    if ((*word & FUTEX_WAITERS) == 0 || !pass_lock(call, word, is_private, 0))
        *word = 0;
    return 0;
}

/* Wait at a condition variable: at the word `from`, until the thread is moved to the lock `to` and gets that lock. */
long futex_wait_requeue_pi(struct call *call, const struct futex_pair *pair, int64_t deadline)
{
    long result;

    if (pair->from == pair->to)
        return -EINVAL;
    result = futex_wait(call, pair->from, pair->from_private, (uint32_t)call->a[2], deadline, FUTEX_BITSET_MATCH_ANY);
    if (result == -EINTR)
        return -ERESTART_CALL;
    if (result < 0 || owner_of(*pair->to) == (uint32_t)call->thread->ids.tid)
        return result;
    return wait_for_owner(call, pair->to, pair->to_private, deadline);
}

/* Signal or broadcast a condition variable: its waiters move to the lock. If the lock is free, the first waiter has it. */
long futex_cmp_requeue_pi(struct call *call, const struct futex_pair *pair)
{
    long moved;

    if (pair->from == pair->to || call->a[2] != 1)
        return -EINVAL;
    if (*pair->from != (uint32_t)call->a[5])
        return -EAGAIN;
    moved = futex_requeue(call, pair, 0, 1 + (int64_t)(int)call->a[3]);
    if (moved <= 0)
        return moved;
    if (owner_of(*pair->to) != 0)
        *pair->to |= FUTEX_WAITERS;
    else
        pass_lock(call, pair->to, pair->to_private, *pair->to & FUTEX_OWNER_DIED);
    return moved;
}

static void release(struct call *call, uint64_t entry, int64_t offset)
{
    uint32_t *word = (uint32_t *)((entry & ~PI_MARK) + (uint64_t)offset);
    uint32_t waiters;

    if (futex_check_word(word) != 0 || owner_of(*word) != (uint32_t)call->thread->ids.tid)
        return;
    waiters = *word & FUTEX_WAITERS;
    *word = waiters | FUTEX_OWNER_DIED;
    if (waiters == 0)
        return;
    if (entry & PI_MARK)
        pass_lock(call, word, false, FUTEX_OWNER_DIED);
    else
        futex_wake(call, word, false, 1, FUTEX_BITSET_MATCH_ANY);
}

/* Tell threads that wait for locks of a thread that ends. The kernel marks the locks, too, but no thread waits in the
 * kernel. Both keys of a private word are equal, so this code need not know whether the lock is shared. */
void futex_release_robust(struct call *call)
{
    struct robust_head *head = NULL;
    size_t size = 0;
    uint64_t entry;

    if (NATIVE(get_robust_list, 0, &head, &size) != 0 || is_bad_pointer(head))
        return;
    entry = head->next;
    for (int i = 0; i < ROBUST_MAX && (entry & ~PI_MARK) != (uint64_t)head && !is_bad_pointer((void *)entry); i++) {
        uint64_t next = *(uint64_t *)(entry & ~PI_MARK); /* a woken thread may take the entry off the list */

        release(call, entry, head->offset);
        entry = next;
    }
    if ((head->pending & ~PI_MARK) != 0 && !is_bad_pointer((void *)head->pending))
        release(call, head->pending, head->offset);
}
