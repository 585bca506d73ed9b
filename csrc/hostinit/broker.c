/* The broker between the server and the hosts: it holds each host's control socket, so that the server has one socket for all
 * hosts.
 *
 * The server gives each host a number at its birth, and never gives a number twice. Invariant: the broker waits for no process.
 * Messages of hosts stay in the outbox until the server takes them, and each host has at most one message that it has
 * not answered. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define MANY_FILES (1 << 20) /* the kernel's default ceiling (fs.nr_open) */
#define EVENTS 64
#define FORK_SERVER 0 /* the number of the fork server; hosts have numbers above 0 */
#define SERVER UINT64_MAX

static struct message message;
static int *ends; /* the broker's ends of the control sockets, by the host's number; -1: there is no such host, or it
                   * has ended */
static long ends_size;
static int fork_server = -1;
static int poller = -1;

static bool watch(int fd, uint64_t who, uint32_t events, int operation)
{
    struct epoll_event event = {.events = events, .data.u64 = who};

    return epoll_ctl(poller, operation, fd, &event) == 0;
}

/* Return a place for a new host's socket; NULL if there is no memory, or if a host has this number. */
static int *new_place(long number)
{
    long size = ends_size == 0 ? 64 : ends_size;
    int *bigger;

    while (number >= size)
        size *= 2;
    if (size > ends_size) {
        bigger = realloc(ends, (size_t)size * sizeof *ends);
        if (bigger == NULL)
            return NULL;
        memset(bigger + ends_size, 0xff, (size_t)(size - ends_size) * sizeof *ends);
        ends = bigger;
        ends_size = size;
    }
    return ends[number] < 0 ? &ends[number] : NULL;
}

static int *place_of(long number)
{
    return number > FORK_SERVER && number < ends_size && ends[number] >= 0 ? &ends[number] : NULL;
}

static void drop(long number)
{
    int *place = place_of(number);

    if (place != NULL) {
        close(*place);
        *place = -1;
    }
}

/* The server's requests, by the key of their first word, which only the broker reads */

static void to_fork_server(long number)
{
    if (!message_forward(fork_server, &message))
        outbox_put(number, "error cannot ask the process that hosts are cloned from: %s", strerror(errno));
}

/* Make the control socket of a new host. The host's end goes to the fork server with the request. The broker watches
 * its own end from now on, even if the host cannot be made. */
static void bear(long number)
{
    int *place = number > FORK_SERVER ? new_place(number) : NULL;
    int size = MESSAGE_MAX;
    int pair[2];

    if (place == NULL || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        outbox_put(FORK_SERVER, "error cannot make a control socket: %s", place == NULL ? "no place for it" : strerror(errno));
        return;
    }
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    *place = pair[0];
    if (!watch(pair[0], (uint64_t)number, EPOLLIN, EPOLL_CTL_ADD))
        outbox_put(FORK_SERVER, "error cannot watch a control socket: %s", strerror(errno));
    else {
        message.fds[0] = pair[1];
        message.fd_count = 1;
        to_fork_server(FORK_SERVER);
        message.fd_count = 0;
    }
    close(pair[1]);
}

/* Send a message to a host. If the host has ended, the message is dropped: the server was told, or will be told, that
 * the host has ended. */
static void to_host(long number)
{
    const int *place = place_of(number);

    if (message.is_cut)
        outbox_put(number, "error too few descriptors in the factory of hosts: raise `ulimit -Hn` or use fewer hosts");
    else if (place != NULL && !message_forward(*place, &message) && errno != EPIPE && errno != ECONNRESET)
        outbox_put(number, "error cannot pass on a message: %s", strerror(errno));
}

static const struct {
    const char *key;
    void (*run)(long number);
} requests[] = {
    {"host", to_host},
    {"birth", bear},
    {"close", drop},
    {"factory", to_fork_server},
};

static bool hear_server(void)
{
    int size = message_receive(CONTROL, &message);

    if (size <= 0)
        return size < 0;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        const char *value = word_value(message.text, requests[i].key);

        if (value != NULL)
            requests[i].run(strtol(value, NULL, 10));
    }
    message_close_descriptors(&message);
    return true;
}

static bool hear_fork_server(void)
{
    int size = message_receive(fork_server, &message);

    if (size > 0)
        outbox_put(FORK_SERVER, "%s", message.text);
    return size != 0;
}

static void hear_host(long number)
{
    const int *place = place_of(number);
    int size = place == NULL ? -1 : message_receive(*place, &message);

    if (size > 0) {
        outbox_put(number, "%s", message.text);
        message_close_descriptors(&message);
    } else if (size == 0) {
        drop(number);
        outbox_put(number, "gone");
    }
}

/* Handle an event. Returns false if the server or the fork server is gone. */
static bool act_on(const struct epoll_event *event)
{
    if (event->data.u64 == FORK_SERVER)
        return hear_fork_server();
    if (event->data.u64 == SERVER)
        return (event->events & ~(uint32_t)EPOLLOUT) == 0 || hear_server();
    hear_host((long)event->data.u64);
    return true;
}

static void serve(void)
{
    struct epoll_event events[EVENTS];

    for (;;) {
        int count = epoll_wait(poller, events, EVENTS, -1);

        if (count < 0 && errno != EINTR)
            return;
        for (int i = 0; i < count; i++)
            if (!act_on(&events[i]))
                return;
        if (!outbox_send() || !watch(CONTROL, SERVER, outbox_is_empty() ? EPOLLIN : EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD))
            return;
    }
}

/* Raise the limit of descriptors, for the broker alone: hosts are cloned from the fork server, which keeps the limits
 * of the process that has started the run. */
static void allow_many_descriptors(void)
{
    struct rlimit limit;
    struct rlimit many = {MANY_FILES, MANY_FILES};

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    if (limit.rlim_max >= MANY_FILES || setrlimit(RLIMIT_NOFILE, &many) != 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Serve until the server is gone, or the fork server, without which all hosts are lost. */
int broker_run(void)
{
    pid_t process = -1;

    fork_server = fork_server_start(&process);
    poller = epoll_create1(EPOLL_CLOEXEC);
    allow_many_descriptors();
    if (fork_server >= 0 && watch(fork_server, FORK_SERVER, EPOLLIN, EPOLL_CTL_ADD) &&
        watch(CONTROL, SERVER, EPOLLIN, EPOLL_CTL_ADD))
        serve();
    for (long number = 1; number < ends_size; number++)
        drop(number);
    if (fork_server >= 0)
        close(fork_server);
    if (process > 0)
        children_await(process); /* the fork server's keeper restores the settings of the kernel */
    return 0;
}
