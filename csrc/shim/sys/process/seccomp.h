/* Filters of system calls that a process sets for itself (seccomp(2)). The shim stores and runs them. The kernel does
 * not know them, since it would apply them to the shim's own calls. */
#ifndef SIMUNIX_SECCOMP_H
#define SIMUNIX_SECCOMP_H

#include "shim/core/core.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

/* A filter, followed by its program; `before` is the filter that was installed before, NULL: there was none. */
struct filter {
    struct filter *before;
    uint64_t length;
    struct sock_filter program[];
};

/* bpf.c */
bool bpf_is_right(const struct sock_filter *program, unsigned length);
uint32_t bpf_run(const struct sock_filter *at, const struct seccomp_data *data);

/* seccomp.c */
bool seccomp_admits(struct call *call, long *result);
long seccomp_mode(struct thread *thread);
unsigned seccomp_count(struct thread *thread);
long seccomp_set(struct call *call, unsigned operation, uint64_t flags, const struct sock_fprog *given);
void seccomp_inherit(struct thread *child, struct thread *creator);
int seccomp_hand_on(struct thread *thread);
void seccomp_adopt(struct thread *thread, int fd);

#endif
