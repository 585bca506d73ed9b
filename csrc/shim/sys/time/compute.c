/* prctl(PR_SIMUNIX_COMPUTE): computing that takes virtual time. The server shares the cores of the host. */
#include "shim/sys/time/time.h"
#include "shim/turn/turn.h"

#define OF_THREAD 0 /* PRIO_PROCESS with number 0: the calling thread, see getpriority(2) */

/* As getpriority(2) of the kernel says it: 20 less the nice value, that of the emulation itself not counted. */
static uint64_t raw_nice(const struct process *process)
{
    return (uint64_t)(NATIVE(getpriority, OF_THREAD, 0) + (long)process->page->nice);
}

/* A signal with a handler ends the computing early, as it ends a nanosleep(2), and *flops is what is left. */
long compute(struct call *call, uint64_t *flops)
{
    if (is_bad_pointer(flops))
        return -EFAULT;
    if (*flops > INT64_MAX)
        return -EINVAL;
    while (*flops > 0) {
        struct wait wait = {.kind = PARK_COMPUTE,
                            .deadline = NEVER,
                            .a = *flops,
                            .b = raw_nice(call->thread->process),
                            .value = (int64_t)*flops};
        long result = wait_on(call, &wait, false);

        *flops = (uint64_t)wait.value;
        if (result < 0)
            return result;
    }
    return 0;
}
