/* epoll_ctl and epoll_wait for the server, and the status of a dead process by its pidfd. Python's own epoll knows a
 * descriptor by its number only. Once the descriptor is closed, the number may belong to another file, while the epoll
 * goes on reporting the old file if another process has it open. All functions return -errno for an error. */
#include "shared/watch.h"

#include <asm/ioctl.h>

#include "shared/kernel.h"

static int change(int epoll, int operation, int descriptor, uint32_t events, uint64_t token)
{
    struct epoll_event event = {.events = events, .data = token};

    return (int)NATIVE(epoll_ctl, epoll, operation, descriptor, &event);
}

int watch_add(int epoll, int descriptor, uint32_t events, uint64_t token)
{
    return change(epoll, EPOLL_CTL_ADD, descriptor, events, token);
}

int watch_modify(int epoll, int descriptor, uint32_t events, uint64_t token)
{
    return change(epoll, EPOLL_CTL_MOD, descriptor, events, token);
}

int watch_remove(int epoll, int descriptor)
{
    return change(epoll, EPOLL_CTL_DEL, descriptor, 0, 0);
}

/* Returns 1 if something is ready in the epoll that a process has under this descriptor number, else 0. */
int watch_is_ready(int pidfd, int descriptor)
{
    long epoll = NATIVE(pidfd_getfd, pidfd, descriptor, 0);
    struct pollfd entry = {.fd = (int)epoll, .events = POLLIN};
    long result = epoll;

    if (epoll >= 0) {
        result = NATIVE(poll, &entry, 1, 0);
        NATIVE(close, epoll);
    }
    return (int)result;
}

/* Write a struct epoll_event for each target that is ready now. Returns the number of targets. */
int watch_look(int epoll, void *ready, int most)
{
    return (int)NATIVE(epoll_wait, epoll, ready, most, 0);
}

/* struct pidfd_info of <linux/pidfd.h> (Linux 6.13), in its first version. */
struct pidfd_info {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t pid, tgid, parent;
    uint32_t ids[8];
    uint32_t spare;
};

#define PIDFD_GET_INFO _IOWR(0xFF, 11, struct pidfd_info)

_Static_assert(sizeof(struct pidfd_info) == 64, "PIDFD_INFO_SIZE_VER0");

/* Returns the number of the parent, in the PID namespace of the caller, if the process is dead and nobody has waited
 * for it; 0 if it lives or is gone; -errno if the kernel does not say so by a pidfd. Reading a file of /proc takes more
 * than twice the time. */
int watch_parent_of_zombie(int pidfd)
{
    struct pidfd_info info = {0};
    struct pollfd entry = {.fd = pidfd, .events = POLLIN};
    long result = NATIVE(poll, &entry, 1, 0);

    if (result <= 0)
        return (int)result;
    result = NATIVE(ioctl, pidfd, PIDFD_GET_INFO, &info);
    if (result == -ESRCH)
        return 0;
    return result < 0 ? (int)result : (int)info.parent;
}
