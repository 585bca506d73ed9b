// Values, sizes and flags that are wrong: each call answers with the kernel's error, and waits for nothing.
// musl: no (musl does not look at the size of epoll_create, nor at the slash of mq_open)
#include "expect.h"

#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>

int main(void)
{
    struct timespec wrong = {0, 1000000000}, negative = {-1, 0}, short_time = {0, 1000};
    struct timeval value = {0, -1};
    int ends[2];
    pipe(ends);
    struct pollfd entry = {.fd = ends[0], .events = POLLIN};
    char bytes[8];
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    fd_set set;
    FD_ZERO(&set);
    siginfo_t info;
    int words[2] = {0, 0};
    struct rusage usage;
    sigset_t mask;
    sigemptyset(&mask);
    EXPECT(nanosleep(&wrong, 0), -EINVAL);
    EXPECT(nanosleep(&negative, 0), -EINVAL);
    EXPECT(syscall(SYS_clock_nanosleep, 99, 0, &short_time, 0), -EINVAL);
    EXPECT(syscall(SYS_clock_nanosleep, CLOCK_THREAD_CPUTIME_ID, 0, &short_time, 0), -ENOTSUP);
    EXPECT(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC_RAW, 0, &short_time, 0), -ENOTSUP);
    EXPECT(syscall(SYS_clock_nanosleep, CLOCK_REALTIME_COARSE, 0, &short_time, 0), -ENOTSUP);
    EXPECT(syscall(SYS_clock_nanosleep, CLOCK_BOOTTIME, 0, &short_time, 0), 0);
    EXPECT(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 77, &short_time, 0), 0);
    EXPECT(syscall(SYS_clock_gettime, 99, &short_time), -EINVAL);
    EXPECT(syscall(SYS_clock_gettime, 12, &short_time), -EINVAL);
    EXPECT(clock_getres(99, &short_time), -EINVAL);
    EXPECT(ppoll(&entry, 1, &wrong, 0), -EINVAL);
    EXPECT(ppoll(&entry, 1, &negative, 0), -EINVAL);
    EXPECT(syscall(SYS_ppoll, &entry, 1, &short_time, &mask, 4), -EINVAL);
    EXPECT(syscall(SYS_poll, &entry, 1 << 30, 0), -EINVAL);
    EXPECT(select(-1, 0, 0, 0, &value), -EINVAL);
    EXPECT(select(0, 0, 0, 0, &value), -EINVAL);
    EXPECT(select(2000, &set, 0, 0, &value), -EINVAL);
    value.tv_usec = 0;
    EXPECT(syscall(SYS_pselect6, 0, 0, 0, 0, &wrong, 0), -EINVAL);
    EXPECT(epoll_wait(epoll, &event, 0, 0), -EINVAL);
    EXPECT(syscall(SYS_epoll_wait, epoll, &event, -1, 0), -EINVAL);
    EXPECT(epoll_wait(ends[0], &event, 1, 0), -EINVAL);
    EXPECT(epoll_wait(-1, &event, 1, 0), -EBADF);
    EXPECT(epoll_ctl(epoll, 99, ends[0], &event), -EINVAL);
    EXPECT(epoll_ctl(epoll, EPOLL_CTL_ADD, epoll, &event), -EINVAL);
    EXPECT(epoll_ctl(epoll, EPOLL_CTL_DEL, ends[0], &event), -ENOENT);
    EXPECT(epoll_ctl(epoll, EPOLL_CTL_ADD, 500, &event), -EBADF);
    EXPECT(epoll_create(0), -EINVAL);
    EXPECT(epoll_create1(99), -EINVAL);
    EXPECT(syscall(SYS_epoll_pwait, epoll, &event, 1, 0, &mask, 4), -EINVAL);
    EXPECT(eventfd(0, 99), -EINVAL);
    EXPECT(syscall(SYS_signalfd4, -1, &mask, 4, 0), -EINVAL);
    EXPECT(syscall(SYS_signalfd4, -1, &mask, 8, 99), -EINVAL);
    EXPECT(syscall(SYS_signalfd4, ends[0], &mask, 8, 0), -EINVAL);
    EXPECT(syscall(SYS_futex, (char *)words + 1, 0, 0, 0, 0, 0), -EINVAL);
    EXPECT(syscall(SYS_futex, words, 0, 0, &wrong, 0, 0), -EINVAL);
    EXPECT(syscall(SYS_futex, words, 0, 1, 0, 0, 0), -EAGAIN);
    EXPECT(syscall(SYS_futex, words, 9, 0, 0, 0, 0), -EINVAL);
    EXPECT(syscall(SYS_futex, words, 3, 1, 1, words + 1, 5), 0);
    EXPECT(syscall(SYS_futex, words, 4, -1, 1, words + 1, 0), -EINVAL);
    EXPECT(syscall(SYS_futex, words, 1, -1, 0, 0, 0), 0);
    EXPECT(waitpid(-1, 0, 0), -ECHILD);
    EXPECT(waitpid(getpid(), 0, 0), -ECHILD);
    EXPECT(waitpid(-1, 0, 0x100), -EINVAL);
    EXPECT(waitid(99, 0, &info, WEXITED), -EINVAL);
    EXPECT(waitid(P_ALL, 0, &info, 0), -EINVAL);
    EXPECT(waitid(P_ALL, 0, &info, WEXITED), -ECHILD);
    EXPECT(getrusage(99, &usage), -EINVAL);
    EXPECT(syscall(SYS_wait4, -1, 0, 0x7000, 0), -EINVAL);
    EXPECT(kill(getpid(), 65), -EINVAL);
    EXPECT(kill(getpid(), -1), -EINVAL);
    EXPECT(syscall(SYS_tgkill, -1, 1, 0), -EINVAL);
    EXPECT(syscall(SYS_tkill, -1, 0), -EINVAL);
    EXPECT(syscall(SYS_tkill, 0, 0), -EINVAL);
    EXPECT(syscall(SYS_tgkill, getpid(), getpid(), 65), -EINVAL);
    info.si_code = 0;
    EXPECT(syscall(SYS_rt_sigqueueinfo, 99999, SIGUSR1, &info), -EPERM);
    EXPECT(syscall(SYS_pidfd_send_signal, ends[0], 0, 0, 0), -EBADF);
    EXPECT(syscall(SYS_pidfd_send_signal, -1, 0, 0, 0), -EBADF);
    EXPECT(sched_setaffinity(99999, 8, (void *)&mask), -ESRCH);
    EXPECT(syscall(SYS_sched_getaffinity, 0, 1, &mask), -EINVAL);
    EXPECT(syscall(SYS_sched_getaffinity, 0, 9, &mask), -EINVAL);
    EXPECT(syscall(SYS_sched_getaffinity, 99999, 8, &mask), -ESRCH);
    struct rlimit limit = {10, 5};
    EXPECT(setrlimit(RLIMIT_NOFILE, &limit), -EINVAL);
    EXPECT(setrlimit(99, &limit), -EINVAL);
    EXPECT(getrlimit(99, &limit), -EINVAL);
    EXPECT(syscall(SYS_prlimit64, 99999, RLIMIT_NOFILE, 0, &limit), -ESRCH);
    limit.rlim_max = 1L << 40;
    EXPECT(setrlimit(RLIMIT_NOFILE, &limit), -EPERM);
    EXPECT(syscall(SYS_rt_sigsuspend, &mask, 4), -EINVAL);
    EXPECT(syscall(SYS_rt_sigtimedwait, &mask, 0, &wrong, 8), -EINVAL);
    EXPECT(syscall(SYS_rt_sigtimedwait, &mask, 0, &short_time, 8), -EAGAIN);
    EXPECT(syscall(SYS_rt_sigpending, &mask, 100), -EINVAL);
    EXPECT(syscall(SYS_rt_sigpending, &mask, 4), 0);
    EXPECT(read(500, bytes, 1), -EBADF);
    EXPECT(read(ends[1], bytes, 1), -EBADF);
    EXPECT(write(ends[0], bytes, 1), -EBADF);
    EXPECT(syscall(SYS_readv, ends[0], 0, -1), -EINVAL);
    EXPECT(syscall(SYS_readv, ends[0], 0, 5000), -EINVAL);
    EXPECT(syscall(SYS_writev, ends[1], 0, 5000), -EINVAL);
    EXPECT(dup2(ends[0], -1), -EBADF);
    EXPECT(dup3(ends[0], ends[0], 0), -EINVAL);
    EXPECT(dup2(500, 501), -EBADF);
    EXPECT(close(500), -EBADF);
    EXPECT(fcntl(ends[0], 999, 0), -EINVAL);
    EXPECT(fcntl(ends[0], F_DUPFD, -1), -EINVAL);
    EXPECT(syscall(SYS_close_range, 5, 4, 0), -EINVAL);
    EXPECT(syscall(SYS_close_range, 500, 600, 99), -EINVAL);
    EXPECT(pipe2(ends, 99), -EINVAL);
    EXPECT(mq_open("nosl", O_RDONLY), -EINVAL);
    EXPECT(mq_open("/sg-none", O_RDONLY), -ENOENT);
    EXPECT(syscall(SYS_mq_timedsend, ends[0], bytes, 1, 0, 0), -EBADF);
    EXPECT(syscall(SYS_clone, 0x10000, 0, 0, 0, 0), -EINVAL);
    EXPECT(syscall(SYS_unshare, 0x10000000 | 1), -EINVAL);
    EXPECT(syscall(SYS_arch_prctl, 99, 0), -EINVAL);
    EXPECT(lseek(ends[0], 0, 0), -ESPIPE);
    EXPECT(lseek(500, 0, 0), -EBADF);
    EXPECT(fsync(ends[0]), -EINVAL);
    EXPECT(ftruncate(ends[0], 0), -EINVAL);
    EXPECT(syscall(SYS_getrandom, bytes, 8, 99), -EINVAL);
    EXPECT(syscall(SYS_timer_create, 0, 0, 0), -EFAULT);
    EXPECT(getpriority(9, 0), -EINVAL);
    EXPECT(setpgid(0, -1), -EINVAL);
    CHECK(problems == 0);
    return succeed();
}
