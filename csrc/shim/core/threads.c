/* Records of threads: made by the creator, given back once the kernel's thread has really gone. */
#include "shim.h"

#define RECORD_SIZE ((sizeof(struct thread) + 4095) & ~4095UL)

static void close_own(int *fd)
{
    if (*fd >= 0)
        NATIVE(close, *fd);
    *fd = -1;
}

static struct thread *fresh_record(void)
{
    long memory = NATIVE(mmap, NULL, RECORD_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct thread *thread = (struct thread *)memory;

    if (memory < 0)
        return NULL;
    thread->channel = thread->epoll = -1;
    return thread;
}

/* The record of the thread that sat there last, of any if a thread's seat is new, or a fresh one. Whoever has no seat (a child in our
 * memory) does not take a record that has one: the server knows of it. */
static struct thread *take_record(struct process *process, int64_t seat, bool is_new)
{
    struct thread **at = &process->free;
    bool takes_any = is_new && seat != 0;
    struct thread *thread;

    while (*at != NULL && (*at)->seat != seat && !takes_any)
        at = &(*at)->next;
    thread = *at;
    if (thread == NULL)
        return is_new ? fresh_record() : NULL;
    *at = thread->next;
    if (is_new) { /* the server has given up what it left */
        close_own(&thread->channel);
        close_own(&thread->epoll);
    }
    return thread;
}

/* A record for a thread that will talk through `channel`, or, if that is -1, through what another has left at this seat. NULL if memory
 * is out. */
struct thread *thread_new(struct process *process, int64_t seat, int channel)
{
    struct thread *thread = take_record(process, seat, channel >= 0);
    int epoll;

    if (thread == NULL)
        return NULL;
    epoll = thread->epoll;
    if (channel < 0)
        channel = thread->channel;
    memset(thread, 0, offsetof(struct thread, buffer));
    thread->self = thread;
    thread->process = process;
    thread->channel = channel;
    thread->epoll = epoll;
    thread->seat = seat;
    thread->trace = -1;
    return thread;
}

/* What it leaves at its seat stays open for the next. */
void thread_release(struct thread *thread)
{
    struct process *process = thread->process;

    close_own(&thread->trace);
    if (thread->seat == 0) {
        close_own(&thread->channel);
        close_own(&thread->epoll);
    }
    if (thread->is_main)
        return; /* its record is not from mmap */
    thread->next = process->free;
    process->free = thread;
}

/* Threads that said good-bye may still be on their last instructions, on a stack that a joiner is about to free. Whoever
 * gets the turn next waits for the kernel to clear their word, and only then clears the one that the joiner looks at. */
void threads_bury(struct process *process)
{
    while (process->dying != NULL) {
        struct thread *thread = process->dying;
        int alive;

        while ((alive = __atomic_load_n(&thread->alive_word, __ATOMIC_ACQUIRE)) != 0)
            NATIVE(futex, &thread->alive_word, FUTEX_WAIT, alive, NULL);
        process->dying = thread->next;
        if (thread->join_word != NULL)
            *thread->join_word = 0;
        thread_release(thread);
    }
}
