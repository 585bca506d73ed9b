/* The shim's own descriptors live at and above a floor that the application takes for its limit. */
#include "shim/core/core.h"

/* Move a descriptor of the shim's out of the application's sight; returns the new number. */
int descriptor_hide(int fd, int floor)
{
    long hidden = NATIVE(fcntl, fd, F_DUPFD_CLOEXEC, floor);

    if (hidden < 0)
        fatal("no descriptor left for the shim; raise the hard limit of open files", NULL, hidden);
    NATIVE(close, fd);
    return (int)hidden;
}

/* A new descriptor that the kernel gave the application, if the application's own limit allows it. */
long descriptor_checked(struct call *call, long fd)
{
    if (fd < 0 || (uint64_t)fd < call->thread->process->nofile_soft)
        return fd;
    NATIVE(close, fd);
    return -EMFILE;
}

/* Is the descriptor the shim's own? To the application it is not open. */
bool descriptor_is_ours(const struct call *call, long fd)
{
    return (unsigned int)fd >= (unsigned int)call->thread->process->descriptor_floor;
}
