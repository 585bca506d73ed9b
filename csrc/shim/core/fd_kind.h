/* What a descriptor is, asked of the kernel once for each call.
 *
 * A kind holds for the call that asked, and for no other: any thread or process that shares the descriptor may close it and get
 * the number for something else, so nothing is kept between calls.
 */
#ifndef SIMUNIX_FD_KIND_H
#define SIMUNIX_FD_KIND_H

#include "shim/core/core.h"

enum fd_kind {
    FD_NONE,      /* not open: the kernel says so */
    FD_FILE,      /* a regular file */
    FD_PIPE,      /* a pipe or FIFO */
    FD_TERMINAL,  /* the master of a terminal */
    FD_SLAVE,     /* the other side of a terminal */
    FD_ANONYMOUS, /* eventfd, timerfd, epoll, signalfd … */
    FD_OTHER,     /* a folder, a device */
    FD_SOCKET,    /* the kernel's own, mostly AF_UNIX */
    FD_STREAM,    /* simulated, like the next two */
    FD_DATAGRAM,  /* of UDP or ICMP */
    FD_NETLINK,
    FD_KINDS
};

struct fd {
    int number;
    enum fd_kind kind;
    int64_t socket;     /* the server's number of a simulated socket, else -1 */
    bool is_ping;       /* of datagram sockets: one that sends nothing but echo requests, see icmp(7) */
    struct stat status; /* all zero where only the socket was asked for */
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
