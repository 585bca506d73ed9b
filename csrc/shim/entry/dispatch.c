/* Calls the handler of a system call, which the table syscalls.def names.
 *
 * The rule of every handler: never make a system call that may wait in the kernel. A handler tries the call without
 * waiting; if the call would wait, the handler gives the turn back, and tries again. The native call whose result is
 * returned comes last, in the turn in which it was found ready: facts that a handler knew before it gave the turn back
 * may have changed.
 */
#include "shared/syscall_names.h"
#include "shim/core/memory.h"
#include "shim/entry/entry.h"
#include "shim/strace/tracing.h"
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/io/io.h"
#include "shim/sys/poll/poll.h"
#include "shim/sys/process/seccomp.h"
#include "tables/newer_syscalls.h"

#define SYSCALLS_MAX 512

struct row {
    call_handler handler; /* NULL: the call is passed on to the kernel, or refused if `error` is set */
    int error;            /* the errno with which the call is refused, unless its handler, if there is one, has found
                           * another error */
    bool quiet;
    bool is_known;
};

/* The prototypes of all handlers, made from the table. */
#define SIMULATE(name, handler) long handler(struct call *call);
#define QUIET_SIMULATE(name, handler) long handler(struct call *call);
#define PASS(name, why)
#define QUIET_PASS(name, why)
#define REFUSE(name, error, why)
#define REFUSE_AFTER(name, error, why, handler) long handler(struct call *call);
#include "tables/syscalls.def"
#undef SIMULATE
#undef QUIET_SIMULATE
#undef PASS
#undef QUIET_PASS
#undef REFUSE
#undef REFUSE_AFTER

#define SIMULATE(name, handler) [__NR_##name] = {handler, 0, false, true},
#define QUIET_SIMULATE(name, handler) [__NR_##name] = {handler, 0, true, true},
#define PASS(name, why) [__NR_##name] = {NULL, 0, false, true},
#define QUIET_PASS(name, why) [__NR_##name] = {NULL, 0, true, true},
#define REFUSE(name, error, why) [__NR_##name] = {NULL, -error, true, true},
#define REFUSE_AFTER(name, error, why, handler) [__NR_##name] = {handler, -error, true, true},
static const struct row rows[SYSCALLS_MAX] = {
#include "tables/syscalls.def"
};

/* Return whether the kernel alone answers this call, without any code of the shim. */
bool dispatch_passes_on(const struct call *call)
{
    long number = call->number;

    return number >= 0 && number < SYSCALLS_MAX && rows[number].is_known && rows[number].handler == NULL &&
           rows[number].error == 0 && call->thread->strace.file < 0 &&
           (call->thread->process->storage.count == 0 || !storage_concerns(call));
}

/* Answer a call whose number is not in the table, because the call is newer or does not exist, as a kernel without the
 * call does. The call in the real kernel might wait, or return the real time. */
long dispatch_unknown(struct call *call, const char *what)
{
    char number[24];

    text_append_number(number, number + sizeof number, call->number);
    warn_once(call->thread, WARN_UNKNOWN_SYSCALL, what, number);
    return -ENOSYS;
}

/* Call the handler of a call. A bad pointer ends the handler with -EFAULT (core/guard.S). Handlers of signals may run
 * inside a handler, and make calls of their own. */
static long handle(struct call *call, const struct row *row)
{
    struct thread *thread = call->thread;
    bool before = thread->in_call.acts;
    long result;

    thread->in_call.acts = !row->quiet;
    result = guarded_call((long (*)(void *))row->handler, call);
    thread->in_call.acts = before;
    if (__builtin_expect(result == -ENOSPC || result == -EDQUOT, 0))
        storage_no_room(call);
    return result;
}

static long answer_once(struct call *call)
{
    const struct row *row;
    long result;

    if (call->number < 0 || call->number >= SYSCALLS_MAX || !rows[call->number].is_known)
        return dispatch_unknown(call, "system call");
    row = &rows[call->number];
    if (!row->quiet) {
        call->had_woken = call->thread->process->page->may_have_woken;
        call->thread->process->page->may_have_woken = 1;
    }
    if (row->handler != NULL && ((result = handle(call, row)) != 0 || row->error == 0)) {
        if (__builtin_expect(call->thread->process->page->exclusive_files != 0, 0))
            epoll_tell_exclusive(call, result);
        return result;
    }
    if (row->error != 0) {
        warn_once(call->thread, WARN_REFUSED, syscall_name(call->number), NULL);
        return row->error;
    }
    return call_natively(call);
}

/* Repeat a call that has not found a file, after a control file of a cgroup has appeared. The first attempt has had
 * no effect. */
static long answer_with_file(struct call *call)
{
    long given[6] = {call->a[0], call->a[1], call->a[2], call->a[3], call->a[4], call->a[5]};
    long result = answer_once(call);

    if (__builtin_expect(result != -ENOENT, 1) || call->thread->process->cgroups.device == 0)
        return result;
    memcpy(call->a, given, sizeof given);
    if (!call->is_interruptible && cgroup_file_is_asked_for(call) &&
        guarded_call((long (*)(void *))cgroup_file_comes, call) == 1)
        return answer_once(call);
    return result;
}

/* Repeat a call that was refused for lack of a descriptor, after the application has got room for more descriptors. The
 * first attempt has had no effect. */
static long answer_with_room(struct call *call)
{
    long result = answer_with_file(call);

    if (__builtin_expect(result == -EMFILE, 0) && descriptors_grow(call))
        result = answer_once(call);
    return result;
}

/* Answer a call on a host with paths on modelled storages, where a call may find no room, and reads and writes take
 * time. The check for room may read the application's memory; a bad pointer there ends the call with EFAULT, as in the
 * kernel. */
static long answer(struct call *call)
{
    long result;

    if (__builtin_expect(call->thread->process->traps.all, 0) && !seccomp_admits(call, &result))
        return result;
    if (__builtin_expect(call->thread->process->storage.count == 0, 1))
        return answer_with_room(call);
    result = guarded_call((long (*)(void *))storage_admit, call);
    if (result == 0) {
        result = answer_with_room(call);
        result = storage_pass(call, result);
    }
    return result;
}

/* Return the signal mask that will hold when the call has returned. */
static uint64_t mask_afterwards(const struct call *call)
{
    return call->context != NULL ? call->context->uc_sigmask : call->mask_before;
}

/* Handle one system call. All calls come here, trapped ones and those of preloaded functions. */
long dispatch(struct call *call)
{
    struct thread *thread = call->thread;
    long result = __builtin_expect(thread->strace.file >= 0, 0) ? strace_call(call, answer) : answer(call);

    if ((thread->in_call.has_waited || thread->delivery.looks_for_stops) && !thread->tracee.is_traced)
        signals_stop_if_due(thread, mask_afterwards(call));
    return result;
}
