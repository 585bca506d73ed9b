/* The server's epoll: whom it tells of is named by a number of the server's own, which outlives its descriptor. */
#ifndef SIMUNIX_WATCH_H
#define SIMUNIX_WATCH_H

#include <stdint.h>

/* cffi: begin */
int watch_add(int epoll, int descriptor, uint32_t events, uint64_t token);
int watch_modify(int epoll, int descriptor, uint32_t events, uint64_t token);
int watch_remove(int epoll, int descriptor);
int watch_is_ready(int pidfd, int descriptor);
int watch_look(int epoll, void *ready, int most);
/* cffi: end */

#endif
