/* System V semaphores and message queues: the kernel keeps them; a waiting thread waits at a futex word of the object's number.
 *
 * A change is told to the server if a thread may wait there, as the clock page counts (futex_key.c). The server wakes all that
 * do, first come first served; they try again. The changer then lets them go first, as the kernel would have served them before
 * its call returned.
 */
#include "shim/core/channel.h"
#include "shim/core/clock.h"
#include "shim/sys/ipc/ipc.h"
#include "shim/turn/turn.h"

/* linux/sem.h and the headers like it need a libc's types. */
#define IPC_NOWAIT_FLAG 04000
#define MSG_COPY_FLAG 040000
#define SEMAPHORES_MAX 500 /* of one call: SEMOPM */
enum ipc_command { IPC_RMID = 0, IPC_SET = 1, IPC_STAT = 2 };
enum semaphore_command { GETVAL = 12, GETNCNT = 14, GETZCNT = 15, SETVAL = 16, SETALL = 17, SEM_STAT = 18, SEM_STAT_ANY = 20 };
enum queue_command { MSG_STAT = 11, MSG_STAT_ANY = 13 };
enum memory_command { SHM_STAT = 13, SHM_STAT_ANY = 15 };

struct semaphore_operation {
    uint16_t number;
    int16_t change;
    int16_t flags;
};

/* Return the futex word for an object. Each host numbers its own objects. */
static uint64_t ipc_word(struct call *call, long id)
{
    uint32_t hash = 2166136261U; /* FNV-1a */

    for (const char *name = call->thread->process->host.name; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619U;
    return (uint64_t)(hash & 0x7fffffffU) << 32 | (uint32_t)id;
}

/* After an object has changed, let the threads that wait for it look before anything else happens to it. */
static void ipc_changed(struct call *call, enum simunix_space space, long id)
{
    const uint64_t key[2] = {space, ipc_word(call, id)};
    struct wait wait = {.kind = PARK_YIELD, .deadline = NEVER};
    struct reply reply;

    if (!futex_has_waiters(call->thread->process, key))
        return;
    if (ASK(call->thread, &reply, OP_WAKE, space, (int64_t)key[1], 1 << 30, ~0U) > 0)
        park(call, &wait);
}

/* Wait until the object has changed. Returns WAKE_TIMEOUT, or the result of an interruption. Never restarted, see
 * signal(7). */
static long ipc_wait(struct call *call, enum simunix_space space, long id, uint64_t detail, int64_t deadline)
{
    const uint64_t key[2] = {space, ipc_word(call, id)};
    struct wait wait = {.kind = PARK_FUTEX, .deadline = deadline, .a = space, .b = key[1], .c = detail << 32 | ~0U};
    long result;

    futex_count_waiter(call->thread->process, key, 1);
    result = wait_on(call, &wait, false);
    futex_count_waiter(call->thread->process, key, -1);
    return result;
}

/* Return the error for an object that was removed during the wait, if it was there when the wait began. */
static long if_removed(long result, bool has_waited)
{
    return result == -EINVAL && has_waited ? -EIDRM : result;
}

/* Try the operations without waiting: with a timeout of zero, the kernel returns -EAGAIN where it would wait. */
static long try_operations(struct call *call)
{
    struct kernel_timespec zero = {0, 0};

    return syscall6(__NR_semtimedop, call->a[0], call->a[1], call->a[2], (long)&zero, 0, 0);
}

struct operations {
    bool waits;   /* no operation has IPC_NOWAIT */
    bool changes; /* at least one operation changes a semaphore */
};

static struct operations look_at(struct call *call)
{
    const struct semaphore_operation *operations = (void *)call->a[1];
    struct operations found = {true, false};

    for (long i = 0; i < call->a[2] && i < SEMAPHORES_MAX && !is_bad_pointer(operations); i++) {
        found.waits = found.waits && (operations[i].flags & IPC_NOWAIT_FLAG) == 0;
        found.changes = found.changes || operations[i].change != 0;
    }
    return found;
}

/* Return what GETNCNT and GETZCNT count: the semaphore whose operation has to wait, and whether it waits for zero. All
 * operations are tried in order, those of one semaphore one upon the other. */
static uint64_t waited_for(struct call *call)
{
    const struct semaphore_operation *operations = (void *)call->a[1];

    for (long i = 0; i < call->a[2]; i++) {
        long value = NATIVE(semctl, call->a[0], operations[i].number, GETVAL, 0);

        for (long before = 0; before < i; before++)
            if (operations[before].number == operations[i].number)
                value += operations[before].change;
        if (operations[i].change == 0 ? value != 0 : value + operations[i].change < 0)
            return (uint64_t)operations[i].number << 1 | (operations[i].change == 0);
    }
    return 0;
}

static long semaphore_operate(struct call *call, int64_t deadline)
{
    long result = try_operations(call);
    struct operations operations;
    bool has_waited = false;

    if (result != 0 && result != -EAGAIN)
        return result;
    operations = look_at(call);
    while (result == -EAGAIN && operations.waits) {
        result = ipc_wait(call, SPACE_SEMAPHORES, call->a[0], waited_for(call), deadline);
        if (result < 0 || result == WAKE_TIMEOUT)
            return result < 0 ? result : -EAGAIN;
        has_waited = true;
        result = try_operations(call);
    }
    if (result == 0 && operations.changes)
        ipc_changed(call, SPACE_SEMAPHORES, call->a[0]);
    return if_removed(result, has_waited);
}

long sys_semop(struct call *call)
{
    return semaphore_operate(call, NEVER);
}

long sys_semtimedop(struct call *call)
{
    int64_t deadline;
    long error = clock_read_deadline(call->thread, CLOCK_MONOTONIC, (void *)call->a[3], false, &deadline);

    return error < 0 ? error : semaphore_operate(call, deadline);
}

/* Make msgsnd or msgrcv, which differ in where their flags are, and in the error of a call that would wait. */
static long queue_operate(struct call *call, int flags_at, long would_wait)
{
    bool waits = (call->a[flags_at] & IPC_NOWAIT_FLAG) == 0;
    bool has_waited = false;
    long result;

    call->a[flags_at] |= IPC_NOWAIT_FLAG;
    while ((result = syscall6(call->number, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4], 0)) == would_wait &&
           waits) {
        result = ipc_wait(call, SPACE_QUEUES, call->a[0], 0, NEVER);
        if (result < 0)
            return result;
        has_waited = true;
    }
    if (result >= 0)
        ipc_changed(call, SPACE_QUEUES, call->a[0]);
    return if_removed(result, has_waited);
}

long sys_msgsnd(struct call *call)
{
    return queue_operate(call, 3, -EAGAIN);
}

long sys_msgrcv(struct call *call)
{
    if ((call->a[4] & MSG_COPY_FLAG) != 0) /* never waits: without IPC_NOWAIT it is refused, see msgrcv(2) */
        return call_natively(call);
    return queue_operate(call, 4, -ENOMSG);
}

/* Replace the times that the kernel has noted, which are the real clock's, by the present virtual time, which is the
 * latest time that they can have. */
static void tell_times(struct call *call, void *status, const uint8_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t *seconds = (int64_t *)((char *)status + places[i]);

        if (*seconds != 0)
            *seconds = clock_read(call->thread, CLOCK_REALTIME) / SECOND_NS;
    }
}

/* Return the number of waiters, which the server knows; the kernel has none. */
static long count_waiters(struct call *call, bool for_zero)
{
    int64_t detail = call->a[1] << 1 | for_zero;
    struct reply reply;

    return ASK(call->thread, &reply, OP_WAITERS, SPACE_SEMAPHORES, (int64_t)ipc_word(call, call->a[0]), detail);
}

long sys_semctl(struct call *call)
{
    static const uint8_t times[] = {48, 64}; /* sem_otime, sem_ctime of struct semid64_ds */
    long result = NATIVE(semctl, call->a[0], call->a[1], call->a[2], call->a[3]);

    if (result < 0)
        return result;
    switch (call->a[2] & 0xff) {
    case GETNCNT:
    case GETZCNT:
        return count_waiters(call, (call->a[2] & 0xff) == GETZCNT);
    case IPC_STAT:
    case SEM_STAT:
    case SEM_STAT_ANY:
        tell_times(call, (void *)call->a[3], times, sizeof times);
        break;
    case IPC_RMID:
    case IPC_SET:
    case SETVAL:
    case SETALL:
        ipc_changed(call, SPACE_SEMAPHORES, call->a[0]);
        break;
    }
    return result;
}

long sys_msgctl(struct call *call)
{
    static const uint8_t times[] = {48, 56, 64}; /* msg_stime, msg_rtime, msg_ctime of struct msqid64_ds */
    long result = NATIVE(msgctl, call->a[0], call->a[1], call->a[2]);

    if (result < 0)
        return result;
    switch (call->a[1] & 0xff) {
    case IPC_STAT:
    case MSG_STAT:
    case MSG_STAT_ANY:
        tell_times(call, (void *)call->a[2], times, sizeof times);
        break;
    case IPC_RMID:
    case IPC_SET:
        ipc_changed(call, SPACE_QUEUES, call->a[0]);
        break;
    }
    return result;
}

long sys_shmctl(struct call *call)
{
    static const uint8_t times[] = {56, 64, 72}; /* shm_atime, shm_dtime, shm_ctime of struct shmid64_ds */
    long result = NATIVE(shmctl, call->a[0], call->a[1], call->a[2]);

    switch (result < 0 ? -1 : call->a[1] & 0xff) {
    case IPC_STAT:
    case SHM_STAT:
    case SHM_STAT_ANY:
        tell_times(call, (void *)call->a[2], times, sizeof times);
        break;
    }
    return result;
}

/* The size of attached System V memory is not known here, so from now on every futex word is looked up. */
long sys_shmat(struct call *call)
{
    call->thread->process->mappings.shared_overflow = true;
    return NATIVE(shmat, call->a[0], call->a[1], call->a[2]);
}
