/* prctl(2): calls by which a process changes properties of itself. Operations that would disarm the shim have no effect
 * on it. */
#include "shared/prctl_options.h"
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/process/seccomp.h"
#include "shim/sys/rsg/rsg.h"
#include "shim/sys/time/time.h"
#include "shim/turn/turn.h"

/* Set the name of the thread. The kernel cuts a name that is too long. */
static long set_name(struct call *call)
{
    char name[16];
    long result = NATIVE(prctl, PR_SET_NAME, call->a[1]);

    if (result == 0 && NATIVE(prctl, PR_GET_NAME, name) == 0)
        costs_of_name(call->thread, name);
    return result;
}

/* Send a request about hosts and their power (PR_SIMUNIX_MACHINES). An answer that does not fit into `room` bytes is
 * cut. The request is a text that ends with a zero byte, and fits into one message. */
static long machines(struct call *call, char *text, size_t room)
{
    struct msgpack_writer writer;
    struct reply reply;
    size_t length;

    if (is_bad_pointer(text))
        return -EFAULT;
    length = text_length(text);
    if (length > SIMUNIX_MESSAGE_MAX - 64)
        return -E2BIG;
    request_start(call->thread, &writer, OP_MACHINES);
    msgpack_put_bytes(&writer, text, length);
    request_call(call->thread, &writer, &reply);
    length = reply_bytes(&reply, 1, text, room);
    return reply.status < 0 ? reply.status : (long)length;
}

/* Set filters. The modes of prctl(2) are the operations of seccomp(2), counted from 1. */
static long set_seccomp(struct call *call)
{
    if (call->a[1] == SECCOMP_MODE_STRICT)
        return seccomp_set(call, SECCOMP_SET_MODE_STRICT, 0, NULL);
    if (call->a[1] == SECCOMP_MODE_FILTER)
        return seccomp_set(call, SECCOMP_SET_MODE_FILTER, 0, (const struct sock_fprog *)call->a[2]);
    return -EINVAL;
}

/* The kernel would apply filters to the trap handler's own calls, and Syscall User Dispatch belongs to the shim. The
 * kernel handles all other options. */
long sys_prctl(struct call *call)
{
    switch (call->a[0]) {
    case PR_SET_SECCOMP:
        return set_seccomp(call);
    case PR_GET_SECCOMP:
        return seccomp_mode(call->thread);
    case PR_SET_SYSCALL_USER_DISPATCH:
        warn_once(call->thread, WARN_REFUSED, "prctl(PR_SET_SYSCALL_USER_DISPATCH)", NULL);
        return -EINVAL;
    case PR_SET_TSC:
        return tsc_set(call->thread->process, call->a[1]);
    case PR_GET_TSC:
        return tsc_get(call->thread->process, (int *)call->a[1]);
    case PR_SIMUNIX_COMPUTE:
        return compute(call, (uint64_t *)call->a[1]);
    case PR_SIMUNIX_MACHINES:
        return machines(call, (char *)call->a[1], call->a[2]);
    case PR_SIMUNIX_RSG:
        return rsg_call(call, (struct simunix_rsg_call *)call->a[1]);
    case PR_SET_NAME:
        return set_name(call);
    default:
        return NATIVE(prctl, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4]);
    }
}

long sys_arch_prctl(struct call *call)
{
    if (call->a[0] == ARCH_SET_GS_CODE) { /* the GS base holds the shim's record */
        warn_once(call->thread, WARN_REFUSED, "arch_prctl(ARCH_SET_GS)", NULL);
        return -EPERM;
    }
    return NATIVE(arch_prctl, call->a[0], call->a[1]);
}
