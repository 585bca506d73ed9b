/* Listening internet sockets that the application's epoll instances watch with EPOLLEXCLUSIVE (epoll_ctl(2)): a connection is to
 * wake one of those that wait, though the socket is readable to all. The server chooses whom; another one that is woken for
 * something else looks past the socket's event, which is not its own.
 *
 * Linux does so for whatever file is watched, while it cannot be known here who was woken for what else than connections. */
#include "shim/core/fd_kind.h"
#include "shim/sys/poll/poll.h"

enum epoll_operation { EPOLL_ADD = 1, EPOLL_DELETE = 2 };

static void drop(struct process *process, int at)
{
    process->exclusives[at] = process->exclusives[--process->exclusive_count];
}

/* After an epoll_ctl that has succeeded. A process has few listening sockets: those beyond the table wake all that wait. */
void epoll_remember_exclusive(struct call *call)
{
    struct process *process = call->thread->process;
    const struct epoll_event *event = (const struct epoll_event *)call->a[3];
    int epoll = (int)call->a[0];
    int fd = (int)call->a[2];
    int64_t socket;

    for (int i = process->exclusive_count - 1; i >= 0; i--)
        if (process->exclusives[i].epoll == epoll && process->exclusives[i].fd == fd)
            drop(process, i);
    if (call->a[1] != EPOLL_ADD || (event->events & EPOLLEXCLUSIVE) == 0 || process->exclusive_count == EXCLUSIVE_LISTENERS_MAX)
        return;
    socket = socket_id(fd);
    if (socket >= 0)
        process->exclusives[process->exclusive_count++] = (struct exclusive_listener){epoll, fd, socket, event->data};
}

/* The one listening socket that an epoll instance watches with EPOLLEXCLUSIVE; false if there is none, or more of them. Sockets
 * that have been closed meanwhile are forgotten. */
bool epoll_exclusive(struct process *process, int epoll, struct exclusive_listener *listener)
{
    int count = 0;

    for (int i = process->exclusive_count - 1; i >= 0; i--) {
        if (process->exclusives[i].epoll != epoll)
            continue;
        if (socket_id(process->exclusives[i].fd) != process->exclusives[i].socket) {
            drop(process, i);
            continue;
        }
        *listener = process->exclusives[i];
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

/* What is ready but for the socket's own event, as epoll_wait. If that event alone found room, a second look finds the others:
 * the kernel tells of each in turn. */
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
