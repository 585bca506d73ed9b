/* States to die in, for the parity programs about death: each function below stays in its call until it is killed. */
#ifndef PARITY_DEATH_H
#define PARITY_DEATH_H

#include "inet.h"

#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/file.h>

static void in_sleep(void)
{
    sleep_ms(1000000);
}

static void in_futex(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
}

static void in_read(void)
{
    int ends[2];
    char byte;

    CHECK(pipe(ends) == 0 && read(ends[0], &byte, 1) == 1);
}

static void in_write(void)
{
    static char many[1 << 20];
    int ends[2];

    CHECK(pipe(ends) == 0 && write(ends[1], many, sizeof many) > 0);
}

static void in_accept(void)
{
    int fd = bound_socket(SOCK_STREAM);

    CHECK(listen(fd, 1) == 0 && accept(fd, NULL, NULL) >= 0);
}

/* The queue of a listener that nobody serves is full: the SYN is repeated for a minute. */
static void in_connect(void)
{
    int listener = bound_socket(SOCK_STREAM);
    struct sockaddr_in name = loopback(port_of(listener));

    CHECK(listen(listener, 0) == 0);
    for (;;)
        if (connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&name, sizeof name) != 0)
            pause();
}

static void in_receive(void)
{
    int ends[2];
    char byte;

    tcp_pair(ends);
    CHECK(recv(ends[0], &byte, 1, 0) == 1);
}

static void in_poll(void)
{
    struct pollfd entry = {.fd = bound_socket(SOCK_DGRAM), .events = POLLIN};

    CHECK(poll(&entry, 1, -1) == 1);
}

static void in_sigwait(void)
{
    sigset_t set;
    int number;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0 && sigwait(&set, &number) == 0);
}

/* Its child dies with it, or it would keep a terminal or a pipe of the test open. */
static void in_wait(void)
{
    int ends[2];
    char byte;
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    if (child == 0) {
        close(ends[1]);
        _exit((int)read(ends[0], &byte, 1));
    }
    CHECK(waitpid(child, NULL, 0) == child);
}

static void in_vfork(void)
{
    int ends[2];
    char byte;

    CHECK(pipe(ends) == 0);
    if (vfork() == 0) {
        close(ends[1]);
        _exit((int)read(ends[0], &byte, 1));
    }
}

static void in_lock(void)
{
    int first = open("lock", O_CREAT | O_RDWR, 0600);
    int second = open("lock", O_RDWR);

    CHECK(flock(first, LOCK_EX) == 0 && flock(second, LOCK_EX) == 0);
}

static void in_stop(void)
{
    raise(SIGSTOP);
}

static void in_new_image(void)
{
    execl("/bin/sleep", "sleep", "1000000", (char *)NULL);
}

static void (*const states[])(void) = {
    in_sleep,   in_futex, in_read, in_write, in_accept, in_connect, in_receive,   in_poll,
    in_sigwait, in_wait,  in_vfork, in_lock,  in_stop,   in_new_image,
};

#define STATES ((int)(sizeof states / sizeof states[0]))

#endif
