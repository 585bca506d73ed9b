/* Room sys/poll: poll, select, epoll and eventfd. The kernel says what is ready; only the waiting is done by the shim.
 *
 * May call turn and below, and cgroup of the other families.
 */
#ifndef SIMUNIX_SYS_POLL_H
#define SIMUNIX_SYS_POLL_H

#include "shim/core/core.h"

/* epoll_entries.c */
struct epoll_entry {
    int epoll;
    bool is_there;
    struct {
        uint32_t events;
        uint64_t data;
    } __attribute__((packed)) event;
};
int epoll_entries_of(struct call *call, int fd, struct epoll_entry *entries, int most);
void epoll_entries_renew(int fd, struct epoll_entry *entries, int count);

/* epoll_edges.c */
void epoll_remember_edge(const struct call *call);
void epoll_expect_edge(int64_t socket);
long epoll_look(struct call *call);

/* epoll_exclusive.c */
void epoll_remember_exclusive(struct call *call);
bool epoll_exclusive(struct process *process, int epoll, struct exclusive_listener *listener);
void epoll_tell_exclusive(const struct call *call, long result);
long epoll_look_past(struct call *call, const struct exclusive_listener *listener);

/* epoll_terminals.c */
void epoll_remember_terminal(struct call *call);
unsigned epoll_terminals(struct call *call, struct pollfd *entries);
void epoll_put_terminals_first(struct call *call, struct epoll_event *events, unsigned count);

/* eventfd.c */
long eventfd_await_room(struct call *call, int fd);
bool eventfd_identity(int fd, uint64_t *identity);

#endif
