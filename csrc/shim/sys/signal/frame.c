/* Frames of the application's handlers: copies them from the shim's own stack to where Linux would have made them, and
 * returns from them. */
#include "shim/core/memory.h"
#include "shim/sys/signal/signal.h"

#define RED_ZONE 128
#define LEGACY_STATE_BYTES 512
#define STATE_WORDS_OFFSET 464 /* of struct _fpx_sw_bytes in the saved state */

struct frame {
    void *restorer;
    struct ucontext context;
    siginfo_t info;
};

_Static_assert(offsetof(struct frame, info) == 312, "frame_entry.S");
_Static_assert(offsetof(struct handler_entry, handler) == 8, "frame_entry.S");
_Static_assert(offsetof(struct handler_entry, mask) == 16, "frame_entry.S");
_Static_assert(offsetof(struct handler_entry, signal) == 24, "frame_entry.S");

struct copying {
    const struct frame *from;
    struct frame *to;
    void *state; /* the place of the floating-point state, NULL if there is none */
    size_t state_bytes;
};

static size_t size_of_state(const struct ucontext *context)
{
    const uint8_t *state = (const uint8_t *)context->uc_mcontext.fpstate;
    const struct _fpx_sw_bytes *words = (const void *)(state + STATE_WORDS_OFFSET);

    if (state == NULL)
        return 0;
    return words->magic1 == FP_XSTATE_MAGIC1 ? words->extended_size : LEGACY_STATE_BYTES;
}

/* Copy a frame. The function is called guarded, since the stack may have no room, or may be no memory at all. */
static long copy(void *argument)
{
    struct copying *copying = argument;

    memcpy(copying->to, copying->from, sizeof *copying->to);
    if (copying->state != NULL)
        memcpy(copying->state, (const void *)copying->from->context.uc_mcontext.fpstate, copying->state_bytes);
    copying->to->context.uc_mcontext.fpstate = copying->state;
    return 0;
}

/* Compute the place of a frame below `top`, as the kernel does. */
static void lay_out(struct copying *copying, uint64_t top)
{
    copying->state_bytes = size_of_state(&copying->from->context);
    if (copying->state_bytes > 0) {
        top = (top - copying->state_bytes) & ~63UL;
        copying->state = (void *)top;
    }
    copying->to = (struct frame *)(((top - sizeof(struct frame)) & ~15UL) - 8);
}

/* Return the copy of the frame on the stack on which the handler is to run; NULL if it does not fit there. */
static struct frame *copy_frame(struct thread *thread, struct ucontext *context, bool wants_alternate)
{
    const stack_t *alternate = &thread->signals.alternate;
    uint64_t stack_pointer = context->uc_mcontext.rsp;
    bool is_nested = alternate_is_used(thread, stack_pointer);
    bool enters = wants_alternate && alternate->ss_size != 0 && !is_nested;
    struct copying copying = {.from = (const struct frame *)((uint8_t *)context - offsetof(struct frame, context))};

    lay_out(&copying, enters ? (uint64_t)alternate->ss_sp + alternate->ss_size : stack_pointer - RED_ZONE);
    if ((enters || is_nested) && (uint64_t)copying.to - (uint64_t)alternate->ss_sp > alternate->ss_size)
        return NULL;
    if (guarded_call(copy, &copying) != 0)
        return NULL;
    return copying.to;
}

/* Block signals while the handler runs, by the kernel's rule. In the kernel, SIGSYS and SIGSEGV are never blocked. */
static void block_for_handler(struct thread *thread, int signal, const struct ucontext *context,
                              const struct kernel_sigaction *action)
{
    uint64_t added = action->mask | ((action->flags & SA_NODEFER) != 0 ? 0 : SIGNAL_BIT(signal));

    thread->signals.entry.mask = signals_strip(context->uc_sigmask | added);
    thread->signals.hidden_mask |= added & ~signals_strip(SIGNALS_ALL);
}

/* Return how to enter a handler of the application, from a frame on the shim's own stack; NULL if its frame fits
 * nowhere. A handler that has interrupted the shim itself, on that stack, runs on the shim's stack. */
const struct handler_entry *frame_prepare(struct thread *thread, int signal, struct ucontext *context,
                                          const struct kernel_sigaction *action)
{
    struct handler_entry *entry = &thread->signals.entry;
    stack_t *alternate = &thread->signals.alternate;
    bool is_own = context->uc_mcontext.rsp - (uint64_t)thread->own_stack < OWN_STACK_BYTES;
    struct frame *frame;

    entry->handler = action->handler;
    entry->signal = (uint64_t)signal;
    if (is_own) {
        entry->stack_pointer = (uint64_t)context - offsetof(struct frame, context);
        block_for_handler(thread, signal, context, action);
        return entry;
    }
    frame = copy_frame(thread, context, (action->flags & SA_ONSTACK) != 0);
    if (frame == NULL)
        return NULL;
    /* The application's own restorer is trapped: sys_rt_sigreturn. */
    frame->restorer = (action->flags & SA_RESTORER) != 0 ? action->restorer : (void *)signal_restorer;
    frame->context.uc_sigmask |= thread->signals.hidden_mask;
    if (frame->restorer != (void *)signal_restorer)
        frame->context.uc_stack = *alternate;
    if (((unsigned)alternate->ss_flags & SS_AUTODISARM) != 0)
        *alternate = (stack_t){.ss_flags = SS_DISABLE};
    entry->stack_pointer = (uint64_t)frame;
    block_for_handler(thread, signal, context, action);
    return entry;
}

/* rt_sigreturn(2) of a frame that frame_prepare has made, or the application itself. */
long sys_rt_sigreturn(struct call *call)
{
    struct thread *thread = call->thread;
    struct ucontext *context = (void *)call->context->uc_mcontext.rsp;
    stack_t own = {.ss_sp = thread->own_stack, .ss_size = OWN_STACK_BYTES};

    if (context->uc_stack.ss_sp != own.ss_sp)
        alternate_set(thread, &context->uc_stack, context->uc_mcontext.rsp);
    context->uc_stack = own;
    thread->signals.hidden_mask = context->uc_sigmask & ~signals_strip(SIGNALS_ALL);
    action_release_held(thread);
    context->uc_sigmask = signals_strip(context->uc_sigmask);
    signals_stop_if_due(thread, context->uc_sigmask);
    thread->guard = 0;
    frame_return(context);
}
