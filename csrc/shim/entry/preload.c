/* The preload net: libc's hot functions (hooks.def), exported from here, reach the same table as a trap, without the signal.
 *
 * Two differences to a trapped call matter. First, signals are not blocked when the call begins, so the shim blocks
 * them while a handler of a call runs; pending signals are delivered when the shim unblocks them, before the function
 * returns. Second, libc's wrappers are cancellation points, since a thread is asynchronously cancellable during the
 * system call; these functions call libc's own function to be cancellation points as well. */
#include "shim/entry/entry.h"
#include "shim/sys/cgroup/cgroup.h"
#include "shim/turn/turn.h"

#define EXPORT __attribute__((visibility("default")))
#define ERRNO_MAX 4095
#define CANCEL_ASYNCHRONOUS 1

/* These functions are looked up in the libc of the process, if there is one; the shim itself needs no libc. */
extern int *__errno_location(void) __attribute__((weak, visibility("default")));
extern long syscall(long number, ...) __attribute__((weak, visibility("default")));
extern int pthread_setcanceltype(int type, int *before) __attribute__((weak, visibility("default")));

enum hook_kind { PLAIN, CANCEL, ERRNO, FCNTL };

/* Set once the trap net is armed: before, and where the library is preloaded outside an emulation, the kernel answers. */
static bool is_emulated;

void preload_start(void)
{
    is_emulated = true;
}

/* Make the call. A call that the kernel alone answers uses no data of the shim, so a signal may come at any moment.
 * If a control file of a cgroup does not exist yet, the server is asked for it. */
static long run(struct call *call)
{
    long result;

    if (dispatch_passes_on(call)) {
        call->is_interruptible = true;
        result = dispatch(call);
        call->is_interruptible = false;
        if (result != -ENOENT || call->thread->process->cgroups.device == 0 || !cgroup_file_is_asked_for(call))
            return result;
    }
    do {
        struct call attempt = *call; /* a handler may change its arguments */
        uint64_t all = SIGNALS_IN_SHIM;
        uint64_t before;

        NATIVE(rt_sigprocmask, SIG_SETMASK, &all, &before, 8);
        attempt.mask = attempt.mask_before = before;
        attempt.thread->in_call.has_waited = false;
        result = dispatch(&attempt);
        NATIVE(rt_sigprocmask, SIG_SETMASK, &before, NULL, 8); /* handlers of pending signals run here */
    } while (result == -ERESTART_CALL);
    return result;
}

/* Make the call by libc's own function, so that it traps, because the tracer of a traced thread, or a handler of SIGSYS
 * (seccomp(2)), must see the registers. */
static long trapped(const struct call *call)
{
    int *error = __errno_location();
    int before = *error;
    long result = syscall(call->number, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4], call->a[5]);

    if (result == -1)
        result = -*error;
    *error = before;
    return result;
}

/* glibc's stat(3) and its kin, which the hooks have under the older numbers, make this call: seccomp filters are
 * applied to the number of this call. */
static void as_glibc_calls(struct call *call)
{
    long number = call->number;

    if (number != __NR_stat && number != __NR_lstat && number != __NR_fstat)
        return;
    call->number = __NR_newfstatat;
    call->a[2] = call->a[1];
    call->a[1] = number == __NR_fstat ? (long)"" : call->a[0];
    call->a[0] = number == __NR_fstat ? call->a[0] : AT_FDCWD;
    call->a[3] = number == __NR_stat ? 0 : number == __NR_lstat ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;
}

static long emulate(enum hook_kind kind, struct call *call)
{
    bool cancellable = kind != PLAIN && pthread_setcanceltype != NULL;
    int before;
    long result;

    call->thread = current_thread();
    call->thread->process->page->preloaded++;
    call->thread->in_call.has_waited = false;
    if (cancellable)
        pthread_setcanceltype(CANCEL_ASYNCHRONOUS, &before);
    if (__builtin_expect(call->thread->process->traps.all && syscall != NULL, 0)) {
        if (!call->thread->process->traps.is_tracee)
            as_glibc_calls(call);
        result = trapped(call);
    } else {
        clock_charge_call(call);
        result = run(call);
    }
    if (cancellable)
        pthread_setcanceltype(before, NULL);
    return result;
}

static long answer(enum hook_kind kind, long number, long a, long b, long c, long d, long e, long f)
{
    struct call call = {.number = number, .a = {a, b, c, d, e, f}};

    return is_emulated ? emulate(kind, &call) : syscall6(number, a, b, c, d, e, f);
}

/* A call as a preloaded function makes it. */
long preload_answer(long number)
{
    return answer(PLAIN, number, 0, 0, 0, 0, 0, 0);
}

/* A process group that owns a descriptor is a negative number, which F_GETOWN could not tell from an error: libc asks
 * otherwise. */
static bool owner_as_libc(long fd, long *result)
{
    struct f_owner_ex owner = {0};

    *result = answer(PLAIN, __NR_fcntl, fd, F_GETOWN_EX, (long)&owner, 0, 0, 0);
    if (*result < 0)
        return false;
    *result = owner.type == F_OWNER_PGRP ? -owner.pid : owner.pid;
    return true;
}

static long preloaded(enum hook_kind kind, long number, long a, long b, long c, long d, long e, long f)
{
    long result;

    if (kind == FCNTL && b == F_GETOWN && owner_as_libc(a, &result))
        return result;
    if (kind == FCNTL)
        kind = b == F_SETLKW || b == F_OFD_SETLKW ? CANCEL : PLAIN;
    result = answer(kind, number, a, b, c, d, e, f);
    if (kind == ERRNO)
        return -result;
    if (result < 0 && result >= -ERRNO_MAX) {
        if (__errno_location != NULL)
            *__errno_location() = (int)-result;
        return -1;
    }
    return result;
}

#define SIX(a, b, c, d, e, f, ...) (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)
#define HOOK(kind, type, function, call, parameters, ...)                           \
    EXPORT type function parameters;                                                \
    EXPORT type function parameters                                                 \
    {                                                                               \
        return (type)preloaded(kind, __NR_##call, SIX(__VA_ARGS__, 0, 0, 0, 0, 0)); \
    }
#include "tables/hooks.def"
