/* prctl(PR_SIMUNIX_RSG): one operation of Remote SimGrid. */
#include "shim/sys/rsg/rsg.h"
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/turn/turn.h"

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

/* Ask over the thread's channel, and wait until the turn comes back with the answer. Returns a WAKE_ code. */
static enum simunix_wake ask_at_channel(struct call *call, struct simunix_rsg_call *told)
{
    struct reply reply;
    struct msgpack_writer writer;
    struct wait wait = {.kind = PARK_RSG, .deadline = NEVER, .request = &writer, .reply = &reply};
    enum simunix_wake wake;

    request_start(call->thread, &writer, OP_RSG);
    msgpack_put_int(&writer, told->resumes ? RSG_RESUME : told->operation);
    msgpack_put_uint(&writer, signals_strip(call->mask));
    msgpack_put_bytes(&writer, told->request, told->resumes ? 0 : told->request_bytes);
    wake = park(call, &wait);
    if (wake != WAKE_SIGNAL) {
        told->status = reply_number(&reply, 1);
        told->answer_bytes = reply_bytes(&reply, 2, told->answer, told->answer_room);
    }
    return wake;
}

/* Ask in the thread's box, and wait until the turn comes back with the answer there. Returns a WAKE_ code. */
static enum simunix_wake ask_in_box(struct call *call, struct simunix_rsg_call *told, struct simunix_rsg_box *box)
{
    struct wait wait = {.kind = PARK_RSG, .deadline = NEVER, .box = box};
    size_t length = told->resumes ? 0 : least(told->request_bytes, SIMUNIX_RSG_REQUEST_MAX);
    enum simunix_wake wake;

    memcpy(box->bytes, told->request, length);
    box->operation = told->resumes ? RSG_RESUME : told->operation;
    box->blocked = signals_strip(call->mask);
    box->request_bytes = length;
    wake = park(call, &wait);
    if (wake == WAKE_SIGNAL)
        return wake;
    length = least(least(box->answer_bytes, SIMUNIX_RSG_ANSWER_MAX), told->answer_room);
    memcpy(told->answer, box->bytes, length);
    told->status = wait.value;
    told->answer_bytes = length;
    return wake;
}

static enum simunix_wake ask_server(struct call *call, struct simunix_rsg_call *told)
{
    struct simunix_rsg_box *box = box_of(call->thread);

    return box != NULL && may_ask_in_box(call->thread) ? ask_in_box(call, told, box) : ask_at_channel(call, told);
}

/* A signal handler that runs before the answer has come ends the call, while the operation goes on: the caller, or the
 * kernel that restarts the call, makes the call again with the unchanged structure. */
long rsg_call(struct call *call, struct simunix_rsg_call *told)
{
    if (is_bad_pointer(told) || (told->request_bytes != 0 && is_bad_pointer(told->request)) ||
        (told->answer_room != 0 && is_bad_pointer(told->answer)))
        return -EFAULT;
    if (told->request_bytes > SIMUNIX_RSG_REQUEST_MAX)
        return -EINVAL;
    call->thread->process->page->may_have_woken = call->had_woken; /* the server knows which threads the operation wakes */
    call->thread->in_call.acts = false;
    while (ask_server(call, told) == WAKE_SIGNAL) {
        enum interruption what = signals_look(call);
        long ended = what == INTERRUPT_NONE ? 0 : signals_interrupt(call, what, true);

        told->resumes = 1;
        if (ended != 0)
            return ended;
    }
    told->resumes = 0;
    if (call->thread->process->boxes == BOXES_UNKNOWN)
        boxes_map(call->thread->process);
    return 0;
}
