/* File locks: the shim tries the form of the call that does not wait; if the lock is taken, the thread waits until a
 * lock of that file is released, and tries again.
 *
 * A thread waits at a futex word that stands for the inode. Every call that may release a lock (an unlocking, a closing, a
 * replacing of a descriptor) tells the server, as long as any thread waits for a lock at all. The server itself notices
 * an exec and the end of a process. */
#include "shim/core/channel.h"
#include "shim/pids/pids.h"
#include "shim/sys/file/file.h"
#include "shim/turn/turn.h"

#define FASYNC_FLAG 020000

static struct wait lock_wait(int fd, const struct stat *status, uint32_t holder)
{
    return (struct wait){
        .kind = PARK_FUTEX,
        .deadline = NEVER,
        .a = SPACE_LOCKS,
        .b = inode_word(status),
        .c = (uint64_t)(unsigned int)fd << 32 | SIMUNIX_LOCK_WAITS | holder,
    };
}

/* A descriptor is about to be closed, or its locks have been released: threads that wait for the file try again, after this
 * turn. */
void lock_released(struct call *call, long fd)
{
    struct stat status;
    struct wait wait;
    struct reply reply;

    if (call->thread->process->page->lock_waiters == 0 || NATIVE(fstat, fd, &status) != 0)
        return;
    wait = lock_wait((int)fd, &status, 0);
    ASK(call->thread, &reply, OP_WAKE, SPACE_LOCKS, (int64_t)wait.b, 1 << 30, ~0U);
}

/* Return the pid of a process that holds the record lock which the caller wants; 0 if none is known, or for another
 * kind of lock. */
static uint32_t record_holder(const struct call *call)
{
    struct flock lock;

    if (call->number != __NR_fcntl || call->a[1] != F_SETLKW)
        return 0;
    lock = *(const struct flock *)call->a[2];
    if (NATIVE(fcntl, call->a[0], F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK || lock.l_pid <= 0)
        return 0;
    return (uint32_t)pid_told(call->thread->process, lock.l_pid);
}

/* Try until no other process holds the lock. The server knows which process waits for which other one, and finds circles. */
static long lock_until(struct call *call, long (*attempt)(struct call *call))
{
    struct stat status;
    struct wait wait;
    long result;

    while ((result = attempt(call)) == -EAGAIN || result == -EACCES) {
        if (NATIVE(fstat, call->a[0], &status) != 0)
            return -EBADF;
        wait = lock_wait((int)call->a[0], &status, record_holder(call));
        result = wait_on(call, &wait, true);
        if (result < 0)
            return result;
        if (wait.value == -EDEADLK)
            return -EDEADLK;
    }
    return result;
}

#define LOCK_EXCLUSIVE 2 /* LOCK_EX */

static long try_flock(struct call *call)
{
    return NATIVE(flock, call->a[0], call->a[1] | 4); /* LOCK_NB */
}

long sys_flock(struct call *call)
{
    long result = (call->a[1] & 4) != 0 ? NATIVE(flock, call->a[0], call->a[1]) : lock_until(call, try_flock);

    if (call->a[1] != LOCK_EXCLUSIVE) /* any other command releases a lock or a lease */
        lock_released(call, call->a[0]);
    return result;
}

static long try_fcntl_lock(struct call *call)
{
    return NATIVE(fcntl, call->a[0], call->a[1] == F_SETLKW ? F_SETLK : F_OFD_SETLK, call->a[2]);
}

/* A call that sets a record lock may replace a stronger lock, or may unlock. */
static long set_record_lock(struct call *call, long result)
{
    const struct flock *lock = (void *)call->a[2];

    if (result == 0 && lock->l_type != F_WRLCK)
        lock_released(call, call->a[0]);
    return result;
}

long sys_fcntl(struct call *call)
{
    if (descriptor_is_ours(call, call->a[0]))
        return -EBADF;
    switch (call->a[1]) {
    case F_SETLKW:
    case F_OFD_SETLKW:
        return set_record_lock(call, lock_until(call, try_fcntl_lock));
    case F_SETLK:
    case F_OFD_SETLK:
        return set_record_lock(call, NATIVE(fcntl, call->a[0], call->a[1], call->a[2]));
    case F_SETLEASE:
        /* Leases are refused: a process that opens the file would wait in the kernel until the lease is given up. File
         * systems without leases answer
         * EINVAL. */
        warn_once(call->thread, WARN_REFUSED, "fcntl(F_SETLEASE)", NULL);
        return -EINVAL;
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        descriptors_reach(call, (uint64_t)(unsigned int)call->a[2]);
        return NATIVE(fcntl, call->a[0], call->a[1], call->a[2]);
    case F_SETOWN: /* the kernel sends SIGURG also without O_ASYNC */
    case F_SETOWN_EX:
        signals_from_kernel(call, (int)call->a[0]);
        return NATIVE(fcntl, call->a[0], call->a[1], call->a[2]);
    case F_SETFL:
        if (call->a[2] & FASYNC_FLAG)
            signals_from_kernel(call, (int)call->a[0]);
        /* fallthrough */
    default:
        return NATIVE(fcntl, call->a[0], call->a[1], call->a[2]);
    }
}
