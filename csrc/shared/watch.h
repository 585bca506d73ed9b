/* The server's epoll, in which a target is named by a number that the server chooses and that outlives the descriptor;
 * and the status of a dead process, read from its pidfd. */
#ifndef SIMUNIX_WATCH_H
#define SIMUNIX_WATCH_H

#include <stdint.h>

/* cffi: begin */
int watch_add(int epoll, int descriptor, uint32_t events, uint64_t token);
int watch_modify(int epoll, int descriptor, uint32_t events, uint64_t token);
int watch_remove(int epoll, int descriptor);
int watch_is_ready(int pidfd, int descriptor);
int watch_look(int epoll, void *ready, int most);
int watch_parent_of_zombie(int pidfd);
/* cffi: end */

#endif
