// EPOLLEXCLUSIVE of what is no internet socket: a write to a pipe, an eventfd or an AF_UNIX socket wakes one of those that wait, a second
// write another one; a connection to an AF_UNIX listener wakes one. Who was not woken finds nothing when the time is up. Something else
// that becomes ready wakes who waits for it.
#include "unix.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

enum { WORKERS = 4, WAIT_MS = 400 };

static struct {
    int woken, timed_out, others;
} *counts;

/* Wait once; what has come is left there. */
static void wait_once(int fd, int other)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE, .data.fd = fd};
    int epoll = epoll_create1(0);
    int result;

    CHECK(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
    if (other >= 0) {
        event = (struct epoll_event){.events = EPOLLIN, .data.fd = other};
        CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, other, &event) == 0);
    }
    result = epoll_wait(epoll, &event, 1, WAIT_MS);
    CHECK(result >= 0);
    if (result == 0)
        __sync_fetch_and_add(&counts->timed_out, 1);
    else
        __sync_fetch_and_add(event.data.fd == fd ? &counts->woken : &counts->others, 1);
    _exit(0);
}

static void start(pid_t *workers, int fd, int other)
{
    memset(counts, 0, sizeof *counts);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = fork();
        CHECK(workers[i] >= 0);
        if (workers[i] == 0)
            wait_once(fd, i == WORKERS - 1 ? other : -1);
    }
    sleep_ms(100);
}

static void finish(const pid_t *workers, int woken, int others)
{
    for (int i = 0; i < WORKERS; i++)
        CHECK_CHILD(workers[i]);
    CHECK(counts->woken == woken && counts->others == others && counts->timed_out == WORKERS - woken - others);
}

static void check(int fd, int writer, int writes)
{
    uint64_t one = 1, value;
    pid_t workers[WORKERS];

    start(workers, fd, -1);
    for (int i = 0; i < writes; i++)
        CHECK(write(writer, &one, sizeof one) == sizeof one);
    finish(workers, writes, 0);
    CHECK(read(fd, &value, sizeof value) == sizeof value);
}

static void check_listener(void)
{
    int listener = unix_bound(SOCK_STREAM, "listener");
    pid_t workers[WORKERS];

    CHECK(listen(listener, 5) == 0);
    start(workers, listener, -1);
    CHECK(close(unix_connected(SOCK_STREAM, "listener")) == 0);
    finish(workers, 1, 0);
    CHECK(close(listener) == 0);
}

/* The last of those that wait also waits for a pipe of its own. */
static void check_another(void)
{
    int ends[2], own[2];
    pid_t workers[WORKERS];

    CHECK(pipe(ends) == 0 && pipe(own) == 0);
    start(workers, ends[0], own[0]);
    CHECK(write(ends[1], "x", 1) == 1);
    sleep_ms(50);
    CHECK(counts->woken == 1 && counts->others == 0);
    CHECK(write(own[1], "x", 1) == 1);
    sleep_ms(50);
    CHECK(counts->others == 1);
    finish(workers, 1, 1);
}

int main(void)
{
    int ends[2];
    int event = eventfd(0, EFD_SEMAPHORE);

    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(counts != MAP_FAILED && event >= 0);
    for (int writes = 1; writes <= 2; writes++) {
        CHECK(pipe(ends) == 0);
        check(ends[0], ends[1], writes);
        CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        check(ends[0], ends[1], writes);
        CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
        check(ends[0], ends[1], writes);
    }
    check(event, event, 1);
    check_listener();
    check_another();
    return succeed();
}
