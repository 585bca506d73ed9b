/* Births in namespaces. */
#ifndef PARITY_NAMESPACES_H
#define PARITY_NAMESPACES_H

#include "check.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

struct birth {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size;
};

/* An ordinary user makes namespaces in a user namespace of its own. */
static inline uint64_t needed_flags(void)
{
    return geteuid() == 0 ? 0 : CLONE_NEWUSER;
}

/* fork(2) with flags of clone(2). */
static inline pid_t birth(uint64_t flags)
{
    struct birth arguments = {.flags = flags, .exit_signal = SIGCHLD};

    return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

/* One byte through a pipe. */
static inline void tell(int pipe)
{
    CHECK(write(pipe, "x", 1) == 1);
}

static inline void hear(int pipe)
{
    char byte;

    CHECK(read(pipe, &byte, 1) == 1);
}

#endif
