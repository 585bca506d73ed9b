/* Records of threads: made by the creator, given back once the kernel's thread has really gone. */
#include "shim.h"

#define RECORD_SIZE ((sizeof(struct thread) + 4095) & ~4095UL)

/* A fresh or used record for a thread that will talk through `channel`; NULL if memory is out. */
struct thread *thread_new(struct process *process, int channel)
{
    struct thread *thread = process->free;

    if (thread != NULL) {
        process->free = thread->next;
    } else {
        long memory = NATIVE(mmap, NULL, RECORD_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (memory < 0)
            return NULL;
        thread = (struct thread *)memory;
    }
    memset(thread, 0, offsetof(struct thread, buffer));
    thread->self = thread;
    thread->process = process;
    thread->channel = channel;
    thread->epoll = -1;
    thread->trace = -1;
    return thread;
}

static void close_own(int fd)
{
    if (fd >= 0)
        NATIVE(close, fd);
}

void thread_release(struct thread *thread)
{
    struct process *process = thread->process;

    close_own(thread->channel);
    close_own(thread->epoll);
    close_own(thread->trace);
    thread->channel = thread->epoll = thread->trace = -1;
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
