/* prctl(PR_SIMUNIX_RSG): one operation of Remote SimGrid. */
#include "shim/sys/rsg/rsg.h"
#include "shim/core/channel.h"
#include "shim/turn/turn.h"

/* Send the operation, and wait until the turn comes back with the answer: a WAKE_ code. */
static enum simunix_wake ask_server(struct call *call, const struct simunix_rsg_call *told, struct reply *reply)
{
    struct msgpack_writer writer;
    struct wait wait = {.kind = PARK_RSG, .deadline = NEVER, .request = &writer, .reply = reply};

    request_start(call->thread, &writer, OP_RSG, 3);
    msgpack_put_int(&writer, told->resumes ? RSG_RESUME : told->operation);
    msgpack_put_uint(&writer, signals_strip(call->mask));
    if (told->resumes)
        msgpack_put_bytes(&writer, NULL, 0);
    else
        msgpack_put_bytes(&writer, told->request, told->request_bytes);
    return park(call, &wait);
}

/* A handler that runs before the answer has come ends the call, and the operation goes on: its caller, or the kernel that
 * restarts the call, comes back with the structure as it is. */
long rsg_call(struct call *call, struct simunix_rsg_call *told)
{
    struct reply reply;

    if (is_bad_pointer(told) || (told->request_bytes != 0 && is_bad_pointer(told->request)) ||
        (told->answer_room != 0 && is_bad_pointer(told->answer)))
        return -EFAULT;
    if (told->request_bytes > SIMUNIX_RSG_REQUEST_MAX)
        return -EINVAL;
    while (ask_server(call, told, &reply) == WAKE_SIGNAL) {
        enum interruption what = signals_look(call);
        long ended = what == INTERRUPT_NONE ? 0 : signals_interrupt(call, what, true);

        told->resumes = 1;
        if (ended != 0)
            return ended;
    }
    told->resumes = 0;
    told->status = reply_number(&reply, 1);
    told->answer_bytes = reply_bytes(&reply, 2, told->answer, told->answer_room);
    return 0;
}
