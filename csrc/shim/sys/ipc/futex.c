/* futex(2): finds the function for the number of an operation. */
#include "shim/core/clock.h"
#include "shim/sys/ipc/ipc.h"

#define FUTEX_COMMAND(op) ((op) & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME))

static int32_t operate(int operation, int32_t old, int32_t argument)
{
    switch (operation) {
    case FUTEX_OP_SET:
        return argument;
    case FUTEX_OP_ADD:
        return old + argument;
    case FUTEX_OP_OR:
        return old | argument;
    case FUTEX_OP_ANDN:
        return old & ~argument;
    default:
        return old ^ argument;
    }
}

static bool compare(int comparison, int32_t old, int32_t argument)
{
    switch (comparison) {
    case FUTEX_OP_CMP_EQ:
        return old == argument;
    case FUTEX_OP_CMP_NE:
        return old != argument;
    case FUTEX_OP_CMP_LT:
        return old < argument;
    case FUTEX_OP_CMP_LE:
        return old <= argument;
    case FUTEX_OP_CMP_GT:
        return old > argument;
    default:
        return old >= argument;
    }
}

static long futex_wake_op(struct call *call, const struct futex_pair *pair, int64_t most, int64_t second_most)
{
    uint32_t *second = pair->to;
    uint32_t encoded = (uint32_t)call->a[5];
    int32_t argument = (int32_t)(encoded << 8) >> 20;
    int32_t old = (int32_t)*second;
    long woken;

    if (encoded >> 28 & FUTEX_OP_OPARG_SHIFT)
        argument = 1 << (argument & 31);
    *second = (uint32_t)operate(encoded >> 28 & 7, old, argument);
    woken = futex_wake(call, pair->from, pair->from_private, most, FUTEX_BITSET_MATCH_ANY);
    if (woken >= 0 && compare(encoded >> 24 & 15, old, (int32_t)(encoded << 20) >> 20)) {
        long more = futex_wake(call, second, pair->to_private, second_most, FUTEX_BITSET_MATCH_ANY);

        return more < 0 ? more : woken + more;
    }
    return woken;
}

/* The arguments of a futex call: its words, and the moment until which it waits. */
struct operands {
    struct futex_pair pair;
    int64_t deadline;
};

static long run_wait(struct call *call, const struct operands *with)
{
    const struct futex_pair *pair = &with->pair;

    return futex_wait(call, pair->from, pair->from_private, (uint32_t)call->a[2], with->deadline, FUTEX_BITSET_MATCH_ANY);
}

static long run_wait_bitset(struct call *call, const struct operands *with)
{
    const struct futex_pair *pair = &with->pair;

    return futex_wait(call, pair->from, pair->from_private, (uint32_t)call->a[2], with->deadline, (uint32_t)call->a[5]);
}

static long run_wake(struct call *call, const struct operands *with)
{
    return futex_wake(call, with->pair.from, with->pair.from_private, (int)call->a[2], FUTEX_BITSET_MATCH_ANY);
}

static long run_wake_bitset(struct call *call, const struct operands *with)
{
    return futex_wake(call, with->pair.from, with->pair.from_private, (int)call->a[2], (uint32_t)call->a[5]);
}

static long run_requeue(struct call *call, const struct operands *with)
{
    if ((int)call->a[2] < 0 || (int)call->a[3] < 0)
        return -EINVAL;
    return futex_requeue(call, &with->pair, (int)call->a[2], (int)call->a[3]);
}

static long run_cmp_requeue(struct call *call, const struct operands *with)
{
    return *with->pair.from != (uint32_t)call->a[5] ? -EAGAIN : run_requeue(call, with);
}

static long run_wake_op(struct call *call, const struct operands *with)
{
    return futex_wake_op(call, &with->pair, (int)call->a[2], (int)call->a[3]);
}

static long run_lock_pi(struct call *call, const struct operands *with)
{
    return futex_lock_pi(call, with->pair.from, with->pair.from_private, with->deadline, false);
}

static long run_trylock_pi(struct call *call, const struct operands *with)
{
    return futex_lock_pi(call, with->pair.from, with->pair.from_private, NEVER, true);
}

static long run_unlock_pi(struct call *call, const struct operands *with)
{
    return futex_unlock_pi(call, with->pair.from, with->pair.from_private);
}

static long run_wait_requeue_pi(struct call *call, const struct operands *with)
{
    return futex_wait_requeue_pi(call, &with->pair, with->deadline);
}

static long run_cmp_requeue_pi(struct call *call, const struct operands *with)
{
    return futex_cmp_requeue_pi(call, &with->pair);
}

enum deadline { NO_DEADLINE, RELATIVE, ABSOLUTE, ABSOLUTE_REALTIME };

static const struct operation {
    long (*run)(struct call *call, const struct operands *with);
    enum deadline deadline;
    bool has_second_word;
    bool knows_clocks; /* takes FUTEX_CLOCK_REALTIME */
} operations[] = {
    [FUTEX_WAIT] = {run_wait, RELATIVE, .knows_clocks = true},
    [FUTEX_WAIT_BITSET] = {run_wait_bitset, ABSOLUTE, .knows_clocks = true},
    [FUTEX_WAKE] = {run_wake},
    [FUTEX_WAKE_BITSET] = {run_wake_bitset},
    [FUTEX_WAKE_OP] = {run_wake_op, .has_second_word = true},
    [FUTEX_REQUEUE] = {run_requeue, .has_second_word = true},
    [FUTEX_CMP_REQUEUE] = {run_cmp_requeue, .has_second_word = true},
    [FUTEX_LOCK_PI] = {run_lock_pi, ABSOLUTE_REALTIME},
    [FUTEX_LOCK_PI2] = {run_lock_pi, ABSOLUTE, .knows_clocks = true},
    [FUTEX_TRYLOCK_PI] = {run_trylock_pi},
    [FUTEX_UNLOCK_PI] = {run_unlock_pi},
    [FUTEX_WAIT_REQUEUE_PI] = {run_wait_requeue_pi, ABSOLUTE, .has_second_word = true, .knows_clocks = true},
    [FUTEX_CMP_REQUEUE_PI] = {run_cmp_requeue_pi, .has_second_word = true},
};
#define OPERATIONS (sizeof operations / sizeof operations[0])

static long read_deadline(struct call *call, enum deadline kind, int64_t *deadline)
{
    const struct kernel_timespec *timeout = (void *)call->a[3];
    bool is_real = (call->a[1] & FUTEX_CLOCK_REALTIME) != 0 || kind == ABSOLUTE_REALTIME;

    *deadline = NEVER;
    if (kind == NO_DEADLINE || timeout == NULL)
        return 0;
    return clock_read_deadline(call->thread, is_real ? CLOCK_REALTIME : CLOCK_MONOTONIC, timeout, kind != RELATIVE, deadline);
}

long sys_futex(struct call *call)
{
    static const struct operation none = {NULL};
    unsigned int command = (unsigned int)FUTEX_COMMAND(call->a[1]);
    bool is_private = (call->a[1] & FUTEX_PRIVATE_FLAG) != 0;
    const struct operation *operation = command < OPERATIONS ? &operations[command] : &none;
    struct operands with = {.pair = {(uint32_t *)call->a[0], (uint32_t *)call->a[4], is_private, is_private}};
    long error = futex_check_word(with.pair.from);

    if (error == 0 && operation->has_second_word)
        error = futex_check_word(with.pair.to);
    if (error == 0 && (call->a[1] & FUTEX_CLOCK_REALTIME) != 0 && !operation->knows_clocks)
        error = -ENOSYS;
    if (error == 0)
        error = read_deadline(call, operation->deadline, &with.deadline);
    if (error != 0)
        return error;
    if (operation->run == NULL) {
        warn_once(call->thread, WARN_REFUSED, "futex: an operation that is not simulated", NULL);
        return -ENOSYS;
    }
    return operation->run(call, &with);
}
