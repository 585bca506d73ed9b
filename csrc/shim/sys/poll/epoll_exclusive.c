/* What the application's epoll instances watch with EPOLLEXCLUSIVE (epoll_ctl(2)): a connection to a listening internet socket,
 * or a write to a file of the kernel (a pipe, an eventfd, an AF_UNIX socket), is to wake one of those that wait, though it is
 * readable to all. The server chooses whom; a thread that is woken for another reason ignores the event. While a thread
 * waits for a file in this way, the shim reports each write to the server at once, so that each write wakes one thread.
 *
 * Other simulated sockets, and files without a number (timerfd, signalfd, inotify), wake all waiting threads. */
#include "shim/core/channel.h"
#include "shim/core/fd_kind.h"
#include "shim/sys/poll/poll.h"

enum epoll_operation { EPOLL_ADD = 1, EPOLL_DELETE = 2 };

static void drop(struct process *process, int at)
{
    process->watches.exclusives[at] = process->watches.exclusives[--process->watches.exclusive_count];
}

/* Return the number of a simulated socket, or of a file of the kernel; -1 if it has none. */
static int64_t identity(int fd, bool *is_file)
{
    struct fd looked;
    uint64_t number;

    fd_look(fd, &looked);
    *is_file = !fd_is_simulated(&looked);
    if (fd_is_simulated(&looked))
        return looked.kind == FD_STREAM ? looked.socket : -1;
    if (looked.kind == FD_ANONYMOUS)
        return eventfd_identity(fd, &number) ? (int64_t)(number << 1 | 1) : -1;
    if (looked.kind != FD_PIPE && looked.kind != FD_SOCKET)
        return -1;
    return (int64_t)((looked.status.st_ino ^ looked.status.st_dev << 40) << 2 >> 1); /* unlike an eventfd's number */
}

/* Record the object that an epoll instance watches, after an epoll_ctl(2) that has succeeded. A process has few such
 * instances: those that do not fit into the table wake all waiting threads. */
void epoll_remember_exclusive(struct call *call)
{
    struct process *process = call->thread->process;
    const struct epoll_event *event = (const struct epoll_event *)call->a[3];
    int epoll = (int)call->a[0];
    int fd = (int)call->a[2];
    int64_t number;
    bool is_file;

    for (int i = process->watches.exclusive_count - 1; i >= 0; i--)
        if (process->watches.exclusives[i].epoll == epoll && process->watches.exclusives[i].fd == fd)
            drop(process, i);
    if (call->a[1] != EPOLL_ADD || (event->events & EPOLLEXCLUSIVE) == 0 ||
        process->watches.exclusive_count == EXCLUSIVE_LISTENERS_MAX)
        return;
    number = identity(fd, &is_file);
    if (number >= 0)
        process->watches.exclusives[process->watches.exclusive_count++] =
            (struct exclusive_listener){epoll, fd, number, is_file, event->data};
}

/* Called after a call while a thread waits with EPOLLEXCLUSIVE for a file. If the call has written something, have the
 * server decide now which thread that wakes. */
void epoll_tell_exclusive(const struct call *call, long result)
{
    static const uint16_t writers[] = {__NR_write,  __NR_writev, __NR_pwritev2, __NR_sendto,   __NR_sendmsg, __NR_sendmmsg,
                                       __NR_splice, __NR_tee,    __NR_vmsplice, __NR_sendfile, __NR_connect};
    struct reply reply;

    for (size_t i = 0; i < sizeof writers / sizeof writers[0] && result >= 0; i++)
        if (call->number == writers[i])
            ask(call->thread, &reply, OP_LOOK, 0, NULL);
}

/* Find the only file that an epoll instance watches with EPOLLEXCLUSIVE. Returns false if there is none, or more than
 * one. Files that have been closed meanwhile are forgotten. */
bool epoll_exclusive(struct process *process, int epoll, struct exclusive_listener *listener)
{
    int count = 0;
    bool is_file;

    for (int i = process->watches.exclusive_count - 1; i >= 0; i--) {
        if (process->watches.exclusives[i].epoll != epoll)
            continue;
        if (identity(process->watches.exclusives[i].fd, &is_file) != process->watches.exclusives[i].socket) {
            drop(process, i);
            continue;
        }
        *listener = process->watches.exclusives[i];
        count++;
    }
    return count == 1;
}

static long without(struct epoll_event *events, long count, uint64_t data)
{
    long kept = 0;

    for (long i = 0; i < count; i++)
        if (events[i].data != data)
            events[kept++] = events[i];
    return kept;
}

/* Return the ready events without the event of the exclusive object, as epoll_wait does. If there was room only for
 * that event, a second look finds the other events, since the kernel reports them in turn. */
long epoll_look_past(struct call *call, const struct exclusive_listener *listener)
{
    long result = 0;

    for (int i = 0; i < 2 && result == 0; i++) {
        result = epoll_look(call);
        if (result > 0)
            result = without((struct epoll_event *)call->a[1], result, listener->data);
    }
    return result;
}
