/* What the programs about seccomp(2) share: filters of one call, and how a child ends. */
#ifndef PARITY_SECCOMP_H
#define PARITY_SECCOMP_H

#include "check.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Install a filter with this answer to one call, and SECCOMP_RET_ALLOW to all others; returns what seccomp(2) does. */
static inline long filter_one(long number, uint32_t answer, unsigned flags)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog given = {.len = sizeof program / sizeof program[0], .filter = program};

    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &given);
}

/* The wait status of a child that does this. */
static inline int status_of(void (*what)(void))
{
    pid_t child = fork();
    int status = -1;

    CHECK(child >= 0);
    if (child == 0) {
        what();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

#endif
