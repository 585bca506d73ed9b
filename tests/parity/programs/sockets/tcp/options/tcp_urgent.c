// Urgent data: SIOCATMARK, POLLPRI, MSG_OOB, SO_OOBINLINE and SIGURG; a read ends at the mark, and one that would skip an urgent byte
// waits for what comes behind it.
#include "inet.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/select.h>

static volatile sig_atomic_t signalled;

static void handler(int number)
{
    signalled = number;
}

static int at_mark(int fd)
{
    int answer = -1;

    CHECK(ioctl(fd, SIOCATMARK, &answer) == 0);
    return answer;
}

static void await_urgent(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLPRI};

    while (poll(&polled, 1, 5000) == -1)
        CHECK(errno == EINTR); /* SIGURG came first */
    CHECK(polled.revents == POLLPRI);
}

static void apart(int to, int from)
{
    struct timeval limit = {5, 0};
    fd_set urgent;
    char data[10];

    CHECK_ERRNO(recv(from, data, 1, MSG_OOB), EINVAL);
    CHECK(send(to, "abc", 3, 0) == 3 && send(to, "U", 1, MSG_OOB) == 1 && send(to, "def", 3, 0) == 3);
    await_urgent(from);
    FD_ZERO(&urgent);
    FD_SET(from, &urgent);
    CHECK(select(from + 1, NULL, NULL, &urgent, &limit) == 1);
    CHECK(signalled == SIGURG);
    sleep_ms(20);
    CHECK(at_mark(from) == 0 && read(from, data, sizeof data) == 3 && memcmp(data, "abc", 3) == 0);
    CHECK(at_mark(from) == 1 && recv(from, data, sizeof data, MSG_OOB) == 1 && data[0] == 'U');
    CHECK_ERRNO(recv(from, data, 1, MSG_OOB), EINVAL);
    CHECK(read(from, data, sizeof data) == 3 && memcmp(data, "def", 3) == 0);
    CHECK(at_mark(from) == 0);
}

static void in_line(int to, int from)
{
    int on = 1;
    char data[10];

    CHECK(setsockopt(from, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on) == 0);
    CHECK(send(to, "12", 2, 0) == 2 && send(to, "34", 2, MSG_OOB) == 2);
    await_urgent(from);
    sleep_ms(20);
    CHECK(read(from, data, sizeof data) == 3 && memcmp(data, "123", 3) == 0);
    CHECK(at_mark(from) == 1 && read(from, data, sizeof data) == 1 && data[0] == '4');
    on = 0;
    CHECK(setsockopt(from, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on) == 0);
}

/* A blocking read skips an urgent byte, read already or not, and waits. */
static void skipped(int to, int from)
{
    int64_t start_ns;
    char data[10];
    pid_t child;

    CHECK(send(to, "U", 1, MSG_OOB) == 1);
    await_urgent(from);
    start_ns = now_ns();
    child = fork();
    if (child == 0) {
        sleep_ms(40);
        CHECK(send(to, "x", 1, 0) == 1);
        sleep_ms(40);
        CHECK(send(to, "V", 1, MSG_OOB) == 1);
        _exit(0);
    }
    CHECK(read(from, data, sizeof data) == 1 && data[0] == 'x');
    CHECK_ELAPSED(start_ns, 40);
    await_urgent(from);
    CHECK(recv(from, data, 1, MSG_OOB) == 1 && data[0] == 'V');
    CHECK_ERRNO(recv(from, data, 1, MSG_DONTWAIT), EAGAIN);
    CHECK_CHILD(child);
}

int main(void)
{
    int ends[2];
    char data[10];

    tcp_pair(ends);
    CHECK(signal(SIGURG, handler) != SIG_ERR && fcntl(ends[1], F_SETOWN, getpid()) == 0);
    apart(ends[0], ends[1]);
    in_line(ends[0], ends[1]);
    skipped(ends[0], ends[1]);
    CHECK(send(ends[0], "last", 4, MSG_OOB) == 4 && close(ends[0]) == 0);
    sleep_ms(20);
    CHECK(read(ends[1], data, sizeof data) == 3 && recv(ends[1], data, 1, MSG_OOB) == 1 && data[0] == 't');
    CHECK(read(ends[1], data, sizeof data) == 0);
    return succeed();
}
