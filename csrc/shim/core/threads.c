/* Records of threads: the creator of a thread makes its record, which is free again when the kernel's thread has really
 * ended. */
#include "shim/core/core.h"
#include "shim/core/memory.h"

#define RECORD_SIZE ((sizeof(struct thread) + 4095) & ~4095UL)

static void close_own(const struct process *process, int *place)
{
    if (*place >= 0)
        NATIVE(close, descriptor_number(process, *place));
    *place = -1;
}

/* Return a new record, followed by the stack on which the kernel enters the shim. The memory is touched at once if a
 * cgroup counts touched memory. */
static struct thread *fresh_record(const struct process *process)
{
    long flags = MAP_PRIVATE | MAP_ANONYMOUS | (process->cgroups.memory_step != 0 ? MAP_POPULATE : 0);
    long memory = NATIVE(mmap, NULL, RECORD_SIZE + OWN_STACK_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
    struct thread *thread = (struct thread *)memory;

    if (memory < 0)
        return NULL;
    thread->link.channel = thread->link.epoll = -1;
    return thread;
}

/* Return a record for a thread: the one that has this pooled channel; for a new channel the record of any ended thread,
 * or a new one. A child in the same memory, whose channel is not pooled (0), gets no record that has a pooled channel,
 * since the server counts on that channel for a later thread. */
static struct thread *take_record(struct process *process, int64_t pooled_channel, bool is_new)
{
    struct thread **at = &process->free;
    bool takes_any = is_new && pooled_channel != 0;
    struct thread *thread;

    while (*at != NULL && (*at)->link.pooled_channel != pooled_channel && !takes_any)
        at = &(*at)->next;
    thread = *at;
    if (thread == NULL)
        return is_new ? fresh_record(process) : NULL;
    *at = thread->next;
    if (is_new) { /* the server has closed the channel of the ended thread */
        close_own(process, &thread->link.channel);
        close_own(process, &thread->link.epoll);
    }
    return thread;
}

/* Clear a record, except for the fields that it keeps for its next owner. */
static void clear_record(struct thread *thread)
{
    struct thread_kept kept = thread->kept;
    int epoll = thread->link.epoll;

    memset(thread, 0, offsetof(struct thread, buffer));
    thread->self = thread;
    thread->own_stack = (uint8_t *)thread + RECORD_SIZE;
    thread->kept = kept;
    thread->link.epoll = epoll;
}

/* Return a record for a thread that will use `channel`, or, if that is -1, the pooled channel that an ended thread has
 * left. NULL if there is no memory. */
struct thread *thread_new(struct process *process, int64_t pooled_channel, int channel)
{
    struct thread *thread = take_record(process, pooled_channel, channel >= 0);

    if (thread == NULL)
        return NULL;
    if (channel < 0)
        channel = thread->link.channel;
    clear_record(thread);
    thread->process = process;
    thread->link.channel = channel;
    thread->link.pooled_channel = pooled_channel;
    thread->strace.file = -1;
    thread->policy.is_charged = (process->flags & (HELLO_FLAG_CHARGED | HELLO_FLAG_MODELLED)) != 0;
    thread->policy.costs = process->cpu.costs;
    thread->policy.is_measured = (process->flags & HELLO_FLAG_CHARGED) != 0;
    return thread;
}

/* Free a record. A pooled channel and its epoll stay open for the next thread. */
void thread_release(struct thread *thread)
{
    struct process *process = thread->process;

    close_own(process, &thread->strace.file);
    if (thread->link.pooled_channel == 0) {
        close_own(process, &thread->link.channel);
        close_own(process, &thread->link.epoll);
    }
    if (thread->is_main)
        return; /* this record was not made by mmap */
    thread->next = process->free;
    process->free = thread;
}

/* Free the records of threads that have announced their end. Such a thread may still execute its last instructions, on
 * a stack that a joining thread is about to free. So the thread that gets the turn next waits until the kernel has
 * cleared alive_word, and only then clears the word at which the joining thread looks. */
void threads_reap(struct process *process)
{
    while (process->dying != NULL) {
        struct thread *thread = process->dying;
        int alive;

        while ((alive = __atomic_load_n(&thread->end.alive_word, __ATOMIC_ACQUIRE)) != 0)
            NATIVE(futex, &thread->end.alive_word, FUTEX_WAIT, alive, NULL);
        process->dying = thread->next;
        if (thread->end.join_word != NULL)
            *thread->end.join_word = 0;
        thread_release(thread);
    }
}

/* Have the kernel enter the shim on the record's own stack, whatever becomes of the application's stack. */
void thread_use_own_stack(const struct thread *thread)
{
    const stack_t stack = {.ss_sp = thread->own_stack, .ss_size = OWN_STACK_BYTES};

    NATIVE(sigaltstack, &stack, NULL);
}

void set_thread_pointer(struct thread *thread)
{
    NATIVE(arch_prctl, ARCH_SET_GS_CODE, thread);
}
