/* Finds out the kind of a descriptor, by asking the kernel once for each call.
 *
 * The answer is valid only for the call that has asked. Any thread or process that shares the descriptor may close it,
 * and its number may then mean another file, so nothing is stored between calls. */
#ifndef SIMUNIX_FD_KIND_H
#define SIMUNIX_FD_KIND_H

#include "shim/core/core.h"

enum fd_kind {
    FD_NONE,      /* the descriptor is not open; the kernel reports this */
    FD_FILE,      /* a regular file */
    FD_PIPE,      /* a pipe or FIFO */
    FD_TERMINAL,  /* the master of a terminal */
    FD_SLAVE,     /* the other side of a terminal */
    FD_ANONYMOUS, /* eventfd, timerfd, epoll, signalfd … */
    FD_OTHER,     /* a folder, a device */
    FD_SOCKET,    /* a socket of the kernel's own, mostly AF_UNIX */
    FD_STREAM,    /* a simulated TCP socket */
    FD_DATAGRAM,  /* a simulated socket for UDP or ICMP */
    FD_NETLINK,
    FD_KINDS
};

struct fd {
    int number;
    enum fd_kind kind;
    int64_t socket;     /* the server's number of a simulated socket; -1 for all others */
    bool is_ping;       /* a datagram socket that sends echo requests only, see icmp(7) */
    struct stat status; /* all zero if the caller has asked only about the socket */
};

void fd_look(int number, struct fd *fd);
void fd_look_socket(int number, struct fd *fd);
int64_t socket_id(int number);
int terminal_of_master(int number);

static inline bool fd_is_simulated(const struct fd *fd)
{
    return fd->socket >= 0;
}

#endif
