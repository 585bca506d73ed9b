// A handler without SA_RESTART ends every call that waits with EINTR, and those that take a timeout say what is left of it; with
// SA_RESTART the calls that Linux restarts go on, and those that it never restarts do not.
// native: slow
// musl: no (musl does not tell what is left of a select)
#include "check.h"

#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

static volatile sig_atomic_t rings;
static int ends[2], pair[2], semaphores, queue, epoll;
static mqd_t posix_queue;

static void ring(int signal)
{
    (void)signal;
    rings++;
}

static long by_nanosleep(void)
{
    struct timespec left = timespec_from(100 * MS);
    long result = nanosleep(&left, &left);

    CHECK(result == 0 || (left.tv_nsec > 70 * MS && left.tv_nsec <= 80 * MS));
    return result;
}

static long by_select(void)
{
    struct timeval timeout = {0, 100000};
    fd_set set;
    long result;

    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    result = select(ends[0] + 1, &set, NULL, NULL, &timeout);
    CHECK(result == 0 || (timeout.tv_usec > 70000 && timeout.tv_usec <= 80000));
    return result;
}

static long by_poll(void)
{
    struct pollfd polled = {ends[0], POLLIN, 0};

    return poll(&polled, 1, 100);
}

static long by_ppoll(void)
{
    struct pollfd polled = {ends[0], POLLIN, 0};
    struct timespec timeout = timespec_from(100 * MS);

    return ppoll(&polled, 1, &timeout, NULL);
}

static long by_epoll(void)
{
    struct epoll_event event;

    return epoll_wait(epoll, &event, 1, 100);
}

static long by_semtimedop(void)
{
    struct timespec timeout = timespec_from(100 * MS);
    struct sembuf take = {0, -1, 0};

    return semtimedop(semaphores, &take, 1, &timeout) == 0 || errno == EAGAIN ? 0 : -1;
}

static long by_msgrcv(void)
{
    struct {
        long type;
        char text[8];
    } message;

    return msgrcv(queue, &message, sizeof message.text, 1, 0);
}

static long by_mq_timedreceive(void)
{
    struct timespec until;
    char text[64];

    CHECK(clock_gettime(CLOCK_REALTIME, &until) == 0);
    until = timespec_from(until.tv_sec * INT64_C(1000000000) + until.tv_nsec + 100 * MS);
    return mq_timedreceive(posix_queue, text, sizeof text, NULL, &until) >= 0 || errno == ETIMEDOUT ? 0 : -1;
}

static long by_futex(void)
{
    static int word;
    struct timespec timeout = timespec_from(100 * MS);

    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &timeout, NULL, 0) == 0 || errno == ETIMEDOUT ? 0 : -1;
}

static long by_receive_timeout(void)
{
    struct timeval timeout = {0, 100000};
    char byte;

    CHECK(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0);
    return read(pair[0], &byte, 1) >= 0 || errno == EAGAIN ? 0 : -1;
}

/* Both of a pipe: nobody writes, but a helper that writes after 100 ms. */
static pid_t writer(int fd)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        signal(SIGALRM, SIG_IGN);
        sleep_ms(100);
        CHECK(write(fd, "x", 1) == 1);
        _exit(0);
    }
    return child;
}

static long by_read(void)
{
    char byte;
    pid_t child = writer(ends[1]);
    long result = read(ends[0], &byte, 1);
    int before = errno;

    if (result < 0)
        CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
    errno = before;
    return result;
}

static long by_wait(void)
{
    pid_t child = fork();
    long result;

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(100);
        _exit(0);
    }
    result = wait(NULL);
    if (result < 0) {
        CHECK(errno == EINTR && kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
        errno = EINTR;
    }
    return result;
}

static long by_flock(void)
{
    const char *name = "signal_ends_every_wait.lock";
    int mine = open(name, O_CREAT | O_RDWR, 0600);
    pid_t child = fork();
    long result;
    int before;

    CHECK(mine >= 0 && child >= 0);
    if (child == 0) {
        int other = open(name, O_RDWR);

        CHECK(flock(other, LOCK_EX) == 0);
        sleep_ms(100);
        _exit(0);
    }
    sleep_ms(10);
    result = flock(mine, LOCK_EX);
    before = errno;
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child && close(mine) == 0 && unlink(name) == 0);
    errno = before;
    return result;
}

static const struct way {
    const char *name;
    long (*wait)(void);
    int restarts;
} ways[] = {
    {"nanosleep", by_nanosleep, 0},
    {"select", by_select, 0},
    {"poll", by_poll, 0},
    {"ppoll", by_ppoll, 0},
    {"epoll_wait", by_epoll, 0},
    {"semtimedop", by_semtimedop, 0},
    {"msgrcv", by_msgrcv, 0},
    {"mq_timedreceive", by_mq_timedreceive, 1},
    {"futex", by_futex, 0},
    {"recv with a timeout", by_receive_timeout, 0},
    {"read", by_read, 1},
    {"wait", by_wait, 1},
    {"flock", by_flock, 1},
};

static void interrupted(const struct way *way, int flags)
{
    struct sigaction action = {.sa_handler = ring, .sa_flags = flags};
    struct itimerval once = {.it_value = {0, 25000}};
    int64_t start_ns = now_ns();
    long result;

    rings = 0;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &once, NULL) == 0);
    errno = 0;
    result = way->wait();
    if (rings != 1 || (flags != 0 && way->restarts ? result < 0 : result != -1 || errno != EINTR))
        check_failed(__FILE__, flags, way->name);
    CHECK(now_ns() - start_ns >= 25 * MS);
}

int main(void)
{
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 64};
    struct epoll_event event = {.events = EPOLLIN};

    CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    epoll = epoll_create1(0);
    CHECK(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    queue = msgget(IPC_PRIVATE, 0600);
    posix_queue = mq_open("/signal_ends_every_wait", O_CREAT | O_RDWR, 0600, &attributes);
    CHECK(semaphores >= 0 && queue >= 0 && posix_queue >= 0 && mq_unlink("/signal_ends_every_wait") == 0);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        interrupted(&ways[i], 0);
        interrupted(&ways[i], SA_RESTART);
    }
    CHECK(semctl(semaphores, 0, IPC_RMID) == 0 && msgctl(queue, IPC_RMID, NULL) == 0);
    return succeed();
}
