/* Masters of terminals in the application's epoll instances. Bytes that were written to a slave reach its master by a
 * work queue of the kernel, at some real time, or as soon as the master is polled; an epoll that watches the master
 * does not poll it. So the shim polls the masters first, and waits for them in addition to the epoll, so that the
 * server polls them. */
#include "shim/core/fd_kind.h"
#include "shim/sys/poll/poll.h"

enum epoll_operation { EPOLL_ADD = 1, EPOLL_DELETE = 2, EPOLL_MODIFY = 3 };

/* Remove an entry; the others keep their order. */
static void drop(struct process *process, int at)
{
    process->watches.terminal_count--;
    for (int i = at; i < process->watches.terminal_count; i++)
        process->watches.terminals[i] = process->watches.terminals[i + 1];
}

static int find(const struct process *process, int epoll, int master)
{
    int at = process->watches.terminal_count - 1;

    while (at >= 0 && (process->watches.terminals[at].epoll != epoll || process->watches.terminals[at].master != master))
        at--;
    return at;
}

/* Record a terminal that an epoll instance watches, after an epoll_ctl(2) that has succeeded. A process has few
 * terminals: characters of those that do not fit into the table come when the kernel delivers them. */
void epoll_remember_terminal(struct call *call)
{
    struct process *process = call->thread->process;
    int epoll = (int)call->a[0];
    int fd = (int)call->a[2];
    int at = find(process, epoll, fd);

    if (at >= 0 && call->a[1] != EPOLL_MODIFY)
        drop(process, at);
    if (call->a[1] == EPOLL_ADD && process->watches.terminal_count < WATCHED_TERMINALS_MAX && terminal_of_master(fd) >= 0)
        at = process->watches.terminal_count++;
    else if (call->a[1] != EPOLL_MODIFY)
        at = -1;
    if (at >= 0)
        process->watches.terminals[at] = (struct watched_terminal){epoll, fd, ((const struct epoll_event *)call->a[3])->data};
}

/* Make the kernel deliver the bytes that are under way to the masters of terminals that the epoll of entries[0]
 * watches, and add these masters to the entries, without events to wait for. Returns the number of entries. A master
 * whose slave is closed always has an event. */
unsigned epoll_terminals(struct call *call, struct pollfd *entries)
{
    struct process *process = call->thread->process;
    unsigned count = 1;

    for (int i = process->watches.terminal_count - 1; i >= 0; i--) {
        struct pollfd master = {.fd = process->watches.terminals[i].master, .events = POLLIN};

        if (process->watches.terminals[i].epoll != entries[0].fd)
            continue;
        if (terminal_of_master(master.fd) < 0) /* the descriptor was closed, which has removed it from the epoll */
            drop(process, i);
        else if (NATIVE(poll, &master, 1, 0) == 0 || (master.revents & (POLLHUP | POLLERR)) == 0)
            entries[count++] = (struct pollfd){.fd = master.fd, .events = 0};
    }
    return count;
}

/* Put the events of terminals before all others, those that were added last first. The kernel reports events in the
 * order in which they came, which for terminals depends on real time. */
void epoll_put_terminals_first(struct call *call, struct epoll_event *events, unsigned count)
{
    const struct process *process = call->thread->process;

    for (int i = 0; i < process->watches.terminal_count; i++)
        for (unsigned at = 0; process->watches.terminals[i].epoll == (int)call->a[0] && at < count; at++) {
            struct epoll_event event = events[at];

            if (event.data != process->watches.terminals[i].data)
                continue;
            for (unsigned to = at; to > 0; to--)
                events[to] = events[to - 1];
            events[0] = event;
        }
}
