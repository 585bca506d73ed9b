// A bad pointer given to a system call is EFAULT, whichever part of the kernel or of the emulation looks at it. A page that may
// not be read or written is as bad as one that does not exist, and what lies beyond the addresses of programs.
#include "expect.h"

#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>

static long raw(long number, long a, long b, long c, long d, long e, long f)
{
    long result = syscall(number, a, b, c, d, e, f);

    return result == -1 ? -errno : result;
}

#define PICK(_0, _1, _2, _3, _4, _5, _6, ...) (long)(_1), (long)(_2), (long)(_3), (long)(_4), (long)(_5), (long)(_6)
#define FAULTS(name, ...) expect(#name "(" #__VA_ARGS__ ")", raw(SYS_##name, PICK(0, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)), -EFAULT)

static void look_at(char *bad)
{
    int pair[2], tcp = socket(AF_INET, SOCK_STREAM, 0), udp = socket(AF_INET, SOCK_DGRAM, 0), pipe_ends[2];
    int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0), null = open("/dev/null", O_RDWR);
    int length = 16, id;
    struct timespec soon = {0, 1000};
    struct itimerval none = {{0, 0}, {0, 0}};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(9)};
    struct iovec part = {bad, 4};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union sigval value = {.sival_int = 1};
    timer_t posix_timer;
    char text[16] = "text";

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && pipe(pipe_ends) == 0 && tcp >= 0 && udp >= 0 && epoll >= 0);
    CHECK(bind(udp, (struct sockaddr *)&address, sizeof address) == 0 || errno == EACCES);
    CHECK(timer_create(CLOCK_MONOTONIC, NULL, &posix_timer) == 0);
    id = (int)(intptr_t)posix_timer;
    (void)value;
    FAULTS(clock_gettime, CLOCK_MONOTONIC, bad);
    FAULTS(clock_getres, CLOCK_MONOTONIC, bad);
    FAULTS(gettimeofday, bad, 0);
    FAULTS(gettimeofday, 0, bad);
    FAULTS(time, bad);
    FAULTS(times, bad);
    FAULTS(nanosleep, bad, 0);
    FAULTS(clock_nanosleep, CLOCK_MONOTONIC, 0, bad, 0);
    FAULTS(setitimer, ITIMER_REAL, bad, 0);
    FAULTS(setitimer, ITIMER_REAL, &none, bad);
    FAULTS(getitimer, ITIMER_REAL, bad);
    FAULTS(timer_create, CLOCK_MONOTONIC, bad, &id);
    FAULTS(timer_create, CLOCK_MONOTONIC, 0, bad);
    FAULTS(timer_settime, id, 0, bad, 0);
    FAULTS(timer_gettime, id, bad);
    FAULTS(timerfd_settime, timer, 0, bad, 0);
    FAULTS(timerfd_gettime, timer, bad);
    FAULTS(select, 1, bad, 0, 0, 0);
    FAULTS(select, 0, 0, 0, 0, bad);
    FAULTS(pselect6, 0, 0, 0, 0, bad, 0);
    FAULTS(pselect6, 0, 0, 0, 0, &soon, bad);
    FAULTS(poll, bad, 1, 0);
    FAULTS(ppoll, bad, 1, &soon, 0, 8);
    FAULTS(ppoll, 0, 0, bad, 0, 8);
    FAULTS(ppoll, 0, 0, &soon, bad, 8);
    FAULTS(epoll_ctl, epoll, EPOLL_CTL_ADD, pipe_ends[0], bad);
    FAULTS(epoll_pwait, epoll, text, 1, 0, bad, 8);
    FAULTS(futex, bad, FUTEX_WAIT, 0, 0, 0, 0);
    FAULTS(futex, bad, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, &soon, 0, 0);
    FAULTS(futex, &length, FUTEX_WAIT, 16, bad, 0, 0);
    FAULTS(rt_sigaction, SIGUSR1, bad, 0, 8);
    FAULTS(rt_sigaction, SIGUSR1, 0, bad, 8);
    FAULTS(rt_sigprocmask, SIG_BLOCK, bad, 0, 8);
    FAULTS(rt_sigprocmask, SIG_BLOCK, 0, bad, 8);
    FAULTS(rt_sigpending, bad, 8);
    FAULTS(rt_sigsuspend, bad, 8);
    FAULTS(rt_sigtimedwait, bad, 0, &soon, 8);
    FAULTS(sigaltstack, bad, 0);
    FAULTS(sigaltstack, 0, bad);
    FAULTS(rt_sigqueueinfo, getpid(), SIGUSR1, bad);
    FAULTS(signalfd4, -1, bad, 8, 0);
    FAULTS(getsockname, tcp, bad, &length);
    FAULTS(getsockname, udp, &address, bad);
    FAULTS(getsockopt, tcp, SOL_SOCKET, SO_TYPE, bad, &length);
    FAULTS(getsockopt, tcp, SOL_SOCKET, SO_TYPE, &id, bad);
    FAULTS(setsockopt, tcp, SOL_SOCKET, SO_REUSEADDR, bad, 4);
    FAULTS(bind, tcp, bad, sizeof address);
    FAULTS(connect, tcp, bad, sizeof address);
    FAULTS(sendto, udp, bad, 4, 0, &address, sizeof address);
    FAULTS(sendto, udp, text, 4, 0, bad, sizeof address);
    FAULTS(sendmsg, udp, bad, 0);
    FAULTS(sendmsg, pair[0], &message, 0);
    FAULTS(recvmsg, pair[0], bad, MSG_DONTWAIT);
    FAULTS(socketpair, AF_UNIX, SOCK_STREAM, 0, bad);
    FAULTS(pipe2, bad, 0);
    FAULTS(open, bad, O_RDONLY, 0);
    FAULTS(openat, AT_FDCWD, bad, O_CREAT | O_WRONLY, 0600);
    FAULTS(link, bad, "x");
    FAULTS(symlink, bad, "x");
    FAULTS(rename, bad, "x");
    FAULTS(unlink, bad);
    FAULTS(mkdir, bad, 0700);
    FAULTS(chmod, bad, 0700);
    FAULTS(stat, bad, text);
    FAULTS(stat, "/", bad);
    FAULTS(fstat, null, bad);
    FAULTS(statx, AT_FDCWD, "/", 0, 0x7ff, bad);
    FAULTS(utimensat, AT_FDCWD, bad, 0, 0);
    FAULTS(utimensat, AT_FDCWD, "/", bad, 0);
    FAULTS(write, pipe_ends[1], bad, 4);
    FAULTS(writev, pipe_ends[1], bad, 1);
    FAULTS(writev, pipe_ends[1], &part, 1);
    FAULTS(getrandom, bad, 16, 0);
    FAULTS(uname, bad);
    FAULTS(sched_getaffinity, 0, 128, bad);
    FAULTS(sched_setaffinity, 0, 8, bad);
    FAULTS(getcpu, bad, 0);
    FAULTS(getrlimit, RLIMIT_NOFILE, bad);
    FAULTS(setrlimit, RLIMIT_NOFILE, bad);
    FAULTS(prlimit64, 0, RLIMIT_NOFILE, bad, 0);
    FAULTS(prlimit64, 0, RLIMIT_NOFILE, 0, bad);
    FAULTS(getrusage, RUSAGE_SELF, bad);
    FAULTS(execve, bad, 0, 0);
    FAULTS(execve, "/bin/true", bad, 0);
    FAULTS(execve, "/bin/true", 0, bad);
    FAULTS(clone3, bad, 88);
    FAULTS(mq_open, bad, O_RDONLY, 0, 0);
    FAULTS(msgsnd, msgget(IPC_PRIVATE, 0600 | IPC_CREAT), bad, 4, 0);
    FAULTS(semop, semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT), bad, 1);
    CHECK(timer_delete(posix_timer) == 0);
    for (int fd = 3; fd < 40; fd++)
        close(fd);
}

int main(void)
{
    look_at(mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    look_at((char *)-8);
    look_at((char *)0x5a5a5a5a5a5a5a58);
    look_at((char *)64);
    CHECK(problems == 0);
    return succeed();
}
