/* prctl(PR_SIMUNIX_COMPUTE): computing that takes virtual time. The server shares the cores of the host. */
#include "shim/sys/time/time.h"
#include "shim/turn/turn.h"

/* Compute `*flops` on the host's cores. A signal with a handler ends the computing early, as it ends a nanosleep(2);
 * *flops is then the number of flops that are left. */
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
