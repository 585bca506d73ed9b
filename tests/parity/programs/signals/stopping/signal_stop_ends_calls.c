// Calls that fail with EINTR after a stop and SIGCONT, without any handler, and calls that go on: signal(7).
#include "check.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>

static int pair[2];
static const struct timespec LONG = {.tv_nsec = 700000000};

static long in_epoll(void)
{
    struct epoll_event event;

    return epoll_wait(epoll_create1(0), &event, 1, 700);
}

static long in_epoll_ready(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int poller = epoll_create1(0);

    CHECK(epoll_ctl(poller, EPOLL_CTL_ADD, pair[0], &event) == 0);
    return epoll_wait(poller, &event, 1, -1);
}

static long in_sigtimedwait(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return sigtimedwait(&set, NULL, &LONG);
}

static long in_semtimedop(void)
{
    struct sembuf take = {.sem_op = -1};
    int id = semget(IPC_PRIVATE, 1, 0600);
    long result = semtimedop(id, &take, 1, &LONG);
    int error = errno;

    semctl(id, 0, IPC_RMID);
    errno = error;
    return result;
}

static long in_recv_with_timeout(void)
{
    struct timeval timeout = {.tv_sec = 5};
    char byte;

    CHECK(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0);
    return recv(pair[0], &byte, 1, 0);
}

static long in_recv(void)
{
    char byte;

    return recv(pair[0], &byte, 1, 0);
}

static long in_poll(void)
{
    return poll(NULL, 0, 700);
}

static long in_select(void)
{
    struct timeval timeout = {.tv_usec = 700000};

    return select(0, NULL, NULL, NULL, &timeout);
}

static long in_nanosleep(void)
{
    return nanosleep(&LONG, NULL);
}

/* Stop a child that waits in a call, let a byte come meanwhile, and continue the child: the call ends with `wanted`, an errno
 * or 0. `ended_by_byte`: the call waits for the byte. */
static void stop_in(long (*waits)(void), int wanted, bool ended_by_byte)
{
    pid_t child;
    int status;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        errno = 0;
        _exit(waits() >= 0 ? 0 : errno);
    }
    sleep_ms(200);
    CHECK(kill(child, SIGSTOP) == 0);
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    if (ended_by_byte)
        CHECK(write(pair[1], "", 1) == 1);
    sleep_ms(200);
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) != wanted)
        dprintf(STDERR_FILENO, "got errno %d\n", WEXITSTATUS(status));
    CHECK(WEXITSTATUS(status) == wanted);
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    stop_in(in_epoll, EINTR, false);
    stop_in(in_epoll_ready, EINTR, true);
    stop_in(in_sigtimedwait, EINTR, false);
    stop_in(in_semtimedop, EINTR, false);
    stop_in(in_recv_with_timeout, EINTR, false);
    stop_in(in_recv, 0, true);
    stop_in(in_poll, 0, false);
    stop_in(in_select, 0, false);
    stop_in(in_nanosleep, 0, false);
    return succeed();
}
