/* Ends of threads and processes. The thread that has the turn next frees the record of a thread that has announced its
 * end (core/threads.c). */
#include "shim/core/channel.h"
#include "shim/turn/tracee.h"
#include "shim/turn/turn.h"
#include "shim/sys/ipc/ipc.h"

/* Have the kernel clear a word in the thread's record instead of the word at which joining threads look; the shim
 * clears that one later. */
static void prepare_to_be_reaped(struct thread *thread)
{
    uint32_t *join_word = NULL;

    NATIVE(prctl, PR_GET_TID_ADDRESS, &join_word);
    thread->end.join_word = join_word;
    thread->end.alive_word = 1;
    NATIVE(set_tid_address, &thread->end.alive_word);
    thread->next = thread->process->dying;
    thread->process->dying = thread;
}

/* Return whether the thread is that of a process in its creator's memory: no thread there frees its record, and the
 * kernel clears the word. */
static bool is_left_to_kernel(const struct thread *thread)
{
    return thread->process->space.is_guest && thread->process->main == thread;
}

/* The message is sent last: afterwards no memory of this thread may be used, since the thread that then has the turn
 * may free the memory. */
long sys_exit(struct call *call)
{
    struct thread *thread = call->thread;
    struct msgpack_writer writer;

    tracee_event(call, PTRACE_EVENT_EXIT, (call->a[0] & 0xff) << 8);
    futex_release_robust(call);
    if (!is_left_to_kernel(thread))
        prepare_to_be_reaped(thread);
    if (thread->process->main == thread)
        thread->process->main = NULL;
    handoff_doubt(thread->process, (uint64_t)thread->end.join_word);
    request_start(thread, &writer, OP_THREAD_EXIT);
    msgpack_put_int(&writer, call->a[0] & 0xff);
    msgpack_put_int(&writer, (int64_t)thread->end.join_word);
    request_post(thread, &writer);
    for (;;)
        NATIVE(exit, call->a[0]);
}

/* Close the shim's descriptors of this thread, if the table of descriptors goes on without it: otherwise they would
 * stay open for good. */
static void close_own(const struct thread *thread)
{
    int places[] = {thread->link.channel, thread->link.epoll, thread->strace.file};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (places[i] >= 0)
            NATIVE(close, descriptor_number(thread->process, places[i]));
}

long sys_exit_group(struct call *call)
{
    struct msgpack_writer writer;

    tracee_event(call, PTRACE_EVENT_EXIT, (call->a[0] & 0xff) << 8);
    request_start(call->thread, &writer, OP_EXIT);
    msgpack_put_int(&writer, call->a[0] & 0xff);
    request_post(call->thread, &writer);
    if (call->thread->process->descriptors.are_shared)
        close_own(call->thread);
    for (;;)
        NATIVE(exit_group, call->a[0]);
}
