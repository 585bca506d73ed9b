/* The Linux system-call interface as the shim uses it: inline calls, no libc.
 *
 * Every system call of the shim is an inline `syscall` instruction in the shim's own text, which is the only range that
 * Syscall User Dispatch does not trap. Results are as the kernel returns them: a negative errno on failure.
 */
#ifndef SIMUNIX_KERNEL_H
#define SIMUNIX_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <asm/poll.h>
#include <asm/sigcontext.h>
#include <asm/signal.h>
#include <asm/siginfo.h>
#include <asm/socket.h>
#include <asm/stat.h>
#include <asm/ucontext.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/eventpoll.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <linux/time.h>
#include <linux/uio.h>
#include <linux/wait.h>

/* Constants of the kernel that the headers of some releases lack, or that no header has. */
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif
#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define AF_NETLINK 16
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOCK_SEQPACKET 5
#define SOCK_TYPE_MASK 0xf
#define SOCK_CLOEXEC 02000000
#define SOCK_NONBLOCK 00004000
#define SOL_SOCKET_LEVEL 1
#define SCM_RIGHTS 1
#define SCM_CREDENTIALS 2
#define MSG_OOB 0x1
#define MSG_PEEK 0x2
#define MSG_MORE 0x8000
#define MSG_CTRUNC 0x8
#define MSG_TRUNC 0x20
#define MSG_DONTWAIT 0x40
#define MSG_WAITALL 0x100
#define MSG_NOSIGNAL 0x4000
#define MSG_CMSG_CLOEXEC 0x40000000
#define EPOLL_CLOEXEC_FLAG 02000000
#define ARCH_SET_GS_CODE 0x1001
#ifndef SS_DISABLE
#define SS_ONSTACK 1
#define SS_DISABLE 2
#define SS_AUTODISARM (1U << 31)
#endif
#define ERESTART_CALL 512 /* never returned to a program: it makes the shim run the system call again */
#define SIGNAL_BIT(number) (1UL << ((number) - 1))
#define SIGNALS_ALL (~0UL)
/* the signals of the shim's own faults: core/guard.S */
#define SIGNALS_IN_SHIM (SIGNALS_ALL & ~(SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS)))

struct message_header {
    void *name;
    uint32_t name_length;
    struct iovec *iov;
    size_t iov_length;
    void *control;
    size_t control_length;
    uint32_t flags;
};

struct control_header {
    size_t length;
    int level;
    int type;
};

struct unix_address {
    uint16_t family;
    char path[108];
};

struct kernel_timespec {
    int64_t seconds;
    int64_t nanoseconds;
};

struct kernel_sigaction {
    void *handler;
    uint64_t flags;
    void *restorer;
    uint64_t mask;
};

static inline long syscall6(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#define SYSCALL_PICK(_1, _2, _3, _4, _5, _6, _7, name, ...) name
#define SYSCALL_0(n) syscall6(n, 0, 0, 0, 0, 0, 0)
#define SYSCALL_1(n, a) syscall6(n, (long)(a), 0, 0, 0, 0, 0)
#define SYSCALL_2(n, a, b) syscall6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYSCALL_3(n, a, b, c) syscall6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYSCALL_4(n, a, b, c, d) syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYSCALL_5(n, a, b, c, d, e) syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define SYSCALL_6(n, a, b, c, d, e, f) syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define NATIVE(name, ...)                                                                                                 \
    SYSCALL_PICK(__NR_##name, ##__VA_ARGS__, SYSCALL_6, SYSCALL_5, SYSCALL_4, SYSCALL_3, SYSCALL_2, SYSCALL_1, SYSCALL_0) \
    (__NR_##name, ##__VA_ARGS__)

#endif
