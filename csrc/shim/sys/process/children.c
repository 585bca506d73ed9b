/* Waiting for children. */
#include "shim/core/memory.h"
#include "shim/sys/process/process.h"
#include "shim/turn/turn.h"

/* Ask without waiting; children change state only in their own turns or the server's, and the server then wakes the waiting
 * parent. */
long sys_wait4(struct call *call)
{
    struct wait wait = {.kind = PARK_CHILD, .deadline = NEVER};

    for (;;) {
        long result = NATIVE(wait4, call->a[0], call->a[1], call->a[2] | WNOHANG, call->a[3]);

        if (result > 0 && call->a[3] != 0)
            usage_forget((void *)call->a[3]);
        if (result != 0)
            return result;
        if (call->a[2] & WNOHANG) {
            clock_charge_poll(call);
            return 0;
        }
        result = wait_on(call, &wait, true);
        if (result < 0)
            return result;
    }
}

long sys_waitid(struct call *call)
{
    struct wait wait = {.kind = PARK_CHILD, .deadline = NEVER};
    siginfo_t info;

    for (;;) {
        long result;

        memset(&info, 0, sizeof info);
        result = NATIVE(waitid, call->a[0], call->a[1], &info, call->a[3] | WNOHANG, call->a[4]);
        if (result != 0 || info.si_pid != 0 || (call->a[3] & WNOHANG) != 0) {
            if (result == 0 && info.si_pid == 0)
                clock_charge_poll(call);
            if (result == 0 && call->a[2] != 0)
                memcpy((void *)call->a[2], &info, sizeof info);
            if (result == 0 && call->a[4] != 0)
                usage_forget((void *)call->a[4]);
            return result;
        }
        result = wait_on(call, &wait, true);
        if (result < 0)
            return result;
    }
}
