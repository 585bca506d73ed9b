/* Calls of every family whose arguments strace takes apart. What it prints must be what strace prints of it, natively. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *text)
{
    syscall(SYS_write, 1, text, strlen(text));
}

static void files(void)
{
    char text[64];
    struct stat status;
    struct iovec two[2] = {{"ab", 2}, {"c\1\0019", 4}};
    struct timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
    int fd = open("made", O_RDWR | O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC, 0640);

    if (write(fd, "hello \"you\"\\\t\n\0\33\377 and everything besides", 40) != 40 || writev(fd, two, 2) != 6)
        return;
    lseek(fd, -3, SEEK_CUR);
    lseek(fd, 0, SEEK_SET);
    if (read(fd, text, 10) != 10 || pread(fd, text, 64, 40) != 6 || readv(fd, two, 0) != 0)
        return;
    syscall(SYS_stat, "made", &status);
    syscall(SYS_fstat, fd, &status);
    syscall(SYS_newfstatat, AT_FDCWD, "/dev/null", &status, 0);
    syscall(SYS_lstat, "missing", &status);
    syscall(SYS_newfstatat, AT_FDCWD, ".", &status, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
    access("made", R_OK | W_OK);
    faccessat(AT_FDCWD, "made", F_OK, 0);
    fcntl(fd, F_GETFD);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFD, 0);
    fcntl(fd, F_GETFD);
    fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK);
    fcntl(fd, F_DUPFD_CLOEXEC, 40);
    fcntl(fd, F_SETLK, &(struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 2});
    flock(fd, LOCK_EX | LOCK_NB);
    ftruncate(fd, 5);
    utimensat(AT_FDCWD, "made", times, 0);
    rename("made", "named");
    symlink("named", "link");
    readlink("link", text, sizeof text);
    readlink("named", text, sizeof text);
    mkdir("folder", 0711);
    umask(027);
    chmod("named", 04755);
    unlink("link");
    unlinkat(AT_FDCWD, "folder", AT_REMOVEDIR);
    syscall(SYS_getcwd, text, 1);
    ioctl(fd, TCGETS, text);
    ioctl(fd, FIOCLEX);
    dup2(fd, 77);
    dup3(fd, 78, O_CLOEXEC);
    close(77);
    close(1000);
    unlink("named");
}

static void memory(void)
{
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(page, 4096, PROT_NONE);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    madvise(page, 4096, MADV_DONTNEED);
    page = mremap(page, 8192, 16384, MREMAP_MAYMOVE);
    munmap(page, 16384);
    mmap(NULL, 0, PROT_READ, MAP_SHARED, 0, 4096);
}

static void pipes(void)
{
    int ends[2];
    char text[8];
    int event = eventfd(3, EFD_CLOEXEC | EFD_NONBLOCK);
    struct pollfd wanted[2];
    struct epoll_event found = {.events = EPOLLIN | EPOLLET, .data = {.u64 = 7}};
    struct timespec soon = {0, 1000};
    int poller = epoll_create1(EPOLL_CLOEXEC);

    pipe2(ends, O_CLOEXEC);
    wanted[0] = (struct pollfd){.fd = ends[0], .events = POLLIN | POLLPRI};
    wanted[1] = (struct pollfd){.fd = ends[1], .events = POLLOUT};
    syscall(SYS_poll, wanted, 1, 0);
    syscall(SYS_poll, wanted, 2, 100);
    syscall(SYS_ppoll, wanted, 1, &soon, NULL, 8);
    epoll_ctl(poller, EPOLL_CTL_ADD, event, &found);
    syscall(SYS_epoll_wait, poller, &found, 4, 0);
    epoll_ctl(poller, EPOLL_CTL_DEL, event, NULL);
    syscall(SYS_epoll_wait, poller, &found, 4, 0);
    epoll_ctl(poller, EPOLL_CTL_MOD, 999, &found);
    write(ends[1], "x", 1);
    read(ends[0], text, 8);
    close(ends[1]);
    read(ends[0], text, 8);
    signal(SIGPIPE, SIG_IGN);
    close(ends[0]);
}

static void sockets(void)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(0), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(7007), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "no/where"};
    struct sockaddr_storage any;
    socklen_t length = sizeof any;
    struct iovec one = {"abc", 3};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
    char text[16];
    int ends[2];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int value = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &value, sizeof value);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, sizeof value);
    bind(fd, (void *)&v4, sizeof v4);
    listen(fd, 5);
    length = sizeof value;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &length);
    length = sizeof any;
    getpeername(fd, (void *)&any, &length);
    close(fd);
    fd = socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, IPPROTO_UDP);
    bind(fd, (void *)&v6, sizeof v6);
    length = sizeof any;
    getsockname(fd, (void *)&any, &length);
    close(fd);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    connect(fd, (void *)&un, sizeof un);
    bind(fd, (void *)&(struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = "\0simunix-traced"}, 17);
    length = sizeof any;
    getsockname(fd, (void *)&any, &length);
    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
    send(ends[0], "one message that is longer than what is shown", 45, MSG_NOSIGNAL | MSG_DONTWAIT);
    recv(ends[1], text, sizeof text, MSG_TRUNC);
    sendmsg(ends[0], &message, 0);
    one = (struct iovec){text, sizeof text};
    recvmsg(ends[1], &message, MSG_DONTWAIT);
    recv(ends[1], text, sizeof text, MSG_DONTWAIT);
    shutdown(ends[0], SHUT_WR);
    recvfrom(ends[1], text, sizeof text, 0, NULL, NULL);
}

static void handler(int number)
{
    (void)number;
}

static void signals(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval never = {{0, 0}, {0, 0}};
    sigset_t set;

    sigfillset(&set);
    sigaddset(&action.sa_mask, SIGHUP);
    sigaddset(&action.sa_mask, SIGRTMIN + 3);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR1, NULL, &action);
    sigaction(SIGKILL, &action, NULL);
    kill(getpid(), SIGUSR1);
    syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    sigpending(&set);
    sigtimedwait(&set, NULL, &(struct timespec){1, 0});
    sigtimedwait(&set, NULL, &(struct timespec){0, 0});
    setitimer(ITIMER_REAL, &never, NULL);
    kill(99999999, SIGTERM);
    kill(getpid(), 0);
}

static void times(void)
{
    struct timespec short_while = {0, 1000000};
    struct timespec now;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);

    syscall(SYS_nanosleep, &short_while, NULL);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &(struct timespec){1, 0}, NULL);
    syscall(SYS_nanosleep, &(struct timespec){0, 1000000000}, NULL);
    syscall(SYS_clock_getres, CLOCK_BOOTTIME, NULL);
    syscall(SYS_clock_gettime, 77, &now);
    timerfd_settime(timer, 0, &(struct itimerspec){{0, 0}, {5, 6}}, NULL);
    close(timer);
}

static void *thread(void *argument)
{
    return argument;
}

static void processes(void)
{
    static int word = 1;
    struct rlimit limit;
    pthread_t other;
    int status;
    int pid;

    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
    syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 1, &(struct timespec){1, 0}, NULL, FUTEX_BITSET_MATCH_ANY);
    syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 1, 2, &word + 1, 5);
    getrlimit(RLIMIT_CORE, &limit);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    getrlimit(RLIMIT_CORE, &limit);
    prctl(PR_SET_NAME, "renamed");
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_PDEATHSIG, 0);
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    pid = fork();
    if (pid == 0)
        _exit(33);
    waitpid(pid, &status, 0);
    pid = fork();
    if (pid == 0)
        kill(getpid(), SIGKILL);
    wait4(-1, &status, WUNTRACED, NULL);
    wait4(-1, &status, WNOHANG, NULL);
    execl("./missing", "missing", "argument", (char *)NULL);
}

int main(void)
{
    say("begin\n");
    files();
    memory();
    pipes();
    sockets();
    signals();
    times();
    processes();
    say("end\n");
    return 7;
}
