/* Room to send as an edge (EPOLLOUT with EPOLLET, epoll(7)) of simulated streams. TCP reports room when a stream is
 * first watched or is connected, and later only after a call has found too little room. The pair under a simulated
 * stream tells of room whenever the server has taken bytes; the shim removes these edges from the result of epoll_wait.
 *
 * An event that reports more than room is not removed, as with TCP. The table overwrites the entry of a stream with an
 * equal hash, and a child process has no entries of its parent. Edges of streams without an entry are reported: too
 * many edges rather than too few. */
#include "shim/core/fd_kind.h"
#include "shim/sys/poll/poll.h"

#define EDGES 1024                             /* a power of two */
#define ROOM_EVENTS (EPOLLOUT | 0x100 | 0x200) /* EPOLLWRNORM, EPOLLWRBAND */

enum epoll_operation { EPOLL_DELETE = 2 };

struct edge {
    uint64_t data; /* the data that the application gets with the stream's events */
    int64_t socket;
    int epoll;
    int pid; /* the number of the process that has the epoll instance; 0: the entry is free */
    bool is_due;
};

static struct edge edges[EDGES];
static bool has_edges;

static struct edge *place_of(int epoll, uint64_t data)
{
    return &edges[((data ^ (uint64_t)epoll << 32) * 0x9e3779b97f4a7c15UL >> 40) % EDGES];
}

/* Return the edge that events with this data report; NULL: none is known. */
static struct edge *find(const struct process *process, int epoll, uint64_t data)
{
    struct edge *edge = place_of(epoll, data);

    return edge->pid == process->ids.pid && edge->epoll == epoll && edge->data == data ? edge : NULL;
}

/* Record an edge after an epoll_ctl(2) that has succeeded. */
void epoll_remember_edge(const struct call *call)
{
    const struct epoll_event *event = (const struct epoll_event *)call->a[3];
    const struct process *process = call->thread->process;
    int epoll = (int)call->a[0];
    struct edge *before;
    struct fd fd;

    if (call->a[1] == EPOLL_DELETE)
        return;
    before = has_edges ? find(process, epoll, event->data) : NULL;
    if (before != NULL)
        before->pid = 0;
    if ((event->events & EPOLLET) == 0 || (event->events & EPOLLOUT) == 0)
        return;
    fd_look_socket((int)call->a[2], &fd);
    if (fd.kind != FD_STREAM)
        return;
    *place_of(epoll, event->data) = (struct edge){event->data, fd.socket, epoll, process->ids.pid, true};
    has_edges = true;
}

/* Let the next edge of a TCP socket count, because a call has found too little room there, or has changed its state. */
void epoll_expect_edge(int64_t socket)
{
    for (unsigned i = 0; has_edges && i < EDGES; i++)
        if (edges[i].socket == socket)
            edges[i].is_due = true;
}

/* Return whether an event reports nothing but room that TCP would not report again. */
static bool is_false_edge(const struct process *process, int epoll, const struct epoll_event *event)
{
    struct edge *edge = (event->events & EPOLLOUT) != 0 ? find(process, epoll, event->data) : NULL;
    bool is_false = edge != NULL && !edge->is_due && (event->events & ~(uint32_t)ROOM_EVENTS) == 0;

    if (edge != NULL && !is_false)
        edge->is_due = false;
    return is_false;
}

static long without_false_edges(struct call *call, long count)
{
    struct epoll_event *events = (struct epoll_event *)call->a[1];
    long kept = 0;

    for (long i = 0; i < count; i++)
        if (!is_false_edge(call->thread->process, (int)call->a[0], &events[i]))
            events[kept++] = events[i];
    return kept;
}

/* Return the ready events like an epoll_wait that does not wait. */
long epoll_look(struct call *call)
{
    long result;

    do
        result = NATIVE(epoll_pwait, call->a[0], call->a[1], call->a[2], 0, NULL, 0);
    while (has_edges && result > 0 && (result = without_false_edges(call, result)) == 0);
    return result;
}
