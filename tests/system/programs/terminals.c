/* Terminals, stops at birth, robust and priority-inheriting locks, for tests of determinism.
 *
 * A session on a pseudoterminal answers lines that are typed at it, whole or key by key, is interrupted, stopped and hung up; what
 * comes back is printed as each read gave it, with its moment. Meanwhile children are stopped, continued or killed as soon as fork
 * has returned, and owners of shared locks die. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "moments.h"

enum { SESSIONS = 3, LINES = 4, NEWBORN = 6, OWNERS = 4 };

struct shared {
    pthread_mutex_t robust, inheriting;
    int entered, deaths;
};

/* The session: what runs behind the terminal. */

static void interrupted(int number)
{
    dprintf(1, "<signal %d>\n", number);
}

static void session(void)
{
    char line[200];
    ssize_t size;

    CHECK(signal(SIGINT, interrupted) != SIG_ERR && write(1, "ready\n", 6) == 6);
    while ((size = read(0, line, sizeof line)) != 0) {
        if (size < 0) {
            CHECK(errno == EINTR);
            continue;
        }
        sleep_us(random_below(2000));
        CHECK(dprintf(1, "%ld bytes, ", (long)size) > 0);
        if (random_below(2) == 0)
            sleep_us(random_below(50));
        CHECK(write(1, line, (size_t)size) == size);
    }
    CHECK(write(1, "bye\n", 4) == 4);
    _exit(0);
}

/* Print whatever comes within so many milliseconds, one line for each read; 0 once the session is over. */
static int listen_to(int master, int milliseconds)
{
    struct pollfd polled = {master, POLLIN, 0};
    char text[200];

    while (poll(&polled, 1, milliseconds) == 1) {
        ssize_t size = read(master, text, sizeof text);

        if (size <= 0)
            return 0;
        printf("%ld:", now_us());
        for (ssize_t i = 0; i < size; i++)
            printf(text[i] < ' ' ? "\\%02x" : "%c", text[i]);
        puts("");
    }
    return 1;
}

static void type(int master, const char *keys, int one_by_one)
{
    size_t length = strlen(keys);

    for (size_t i = 0; i < length; i += one_by_one ? 1 : length) {
        CHECK(write(master, keys + i, one_by_one ? 1 : length) > 0);
        if (one_by_one && random_below(3) == 0)
            sleep_us(random_below(300));
    }
}

/* Keys that are typed at a stopped session wait for it. */
static void suspend(int master, pid_t child)
{
    int status;

    CHECK(kill(child, SIGSTOP) == 0 && waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    printf("%ld: stopped\n", now_us());
    type(master, "patience\n", 0);
    sleep_us(random_below(1000));
    CHECK(kill(child, SIGCONT) == 0);
}

static void talk(int number)
{
    static const char *const lines[] = {"one\n", "two\nthree\n", "fo\177our\n", "\x03", "a longer line of words\n"};
    int master, status;
    pid_t child = forkpty(&master, NULL, NULL, NULL);

    CHECK(child >= 0);
    if (child == 0)
        session();
    for (int line = 0; line < LINES; line++) {
        type(master, lines[random_below(5)], (int)random_below(2));
        if (random_below(2) == 0)
            listen_to(master, (int)random_below(4));
        if (random_below(4) == 0)
            suspend(master, child);
    }
    listen_to(master, 5);
    if (number % 2 == 0) {
        type(master, "\x04", 1);
        while (listen_to(master, 100))
            continue;
    }
    CHECK(close(master) == 0 && waitpid(child, &status, 0) == child);
    printf("%ld: session %d ended with %#x\n", now_us(), number, status);
}

/* Children that are signalled as soon as they are there. */
static void signal_newborn(void)
{
    static const int signals[] = {SIGSTOP, SIGTERM, SIGKILL, SIGCONT, SIGUSR1};

    for (int i = 0; i < NEWBORN; i++) {
        int number = signals[random_below(5)], status;
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            sleep_us(random_below(500));
            _exit(3);
        }
        CHECK(kill(child, number) == 0);
        if (number == SIGSTOP) {
            CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
            sleep_us(random_below(100));
            CHECK(kill(child, SIGCONT) == 0);
        }
        CHECK(waitpid(child, &status, 0) == child);
        printf("%ld: newborn, %d: %#x\n", now_us(), number, status);
    }
}

/* Owners of locks that die. */

static struct shared *make_shared(void)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attributes;

    CHECK(shared != MAP_FAILED && pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutex_init(&shared->robust, &attributes) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_STALLED) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutex_init(&shared->inheriting, &attributes) == 0);
    return shared;
}

static void own(struct shared *shared)
{
    int result;

    sleep_us(random_below(1000));
    result = pthread_mutex_lock(&shared->robust);
    if (result == EOWNERDEAD) {
        shared->deaths++;
        CHECK(pthread_mutex_consistent(&shared->robust) == 0);
    } else {
        CHECK(result == 0);
    }
    CHECK(pthread_mutex_lock(&shared->inheriting) == 0);
    shared->entered++;
    sleep_us(random_below(300));
    CHECK(pthread_mutex_unlock(&shared->inheriting) == 0);
    if (random_below(2) == 0)
        CHECK(kill(getpid(), SIGKILL) == 0);
    CHECK(pthread_mutex_unlock(&shared->robust) == 0);
    _exit(0);
}

static void lose_owners(struct shared *shared)
{
    pid_t child;

    for (int i = 0; i < OWNERS; i++) {
        child = fork();
        CHECK(child >= 0);
        if (child == 0)
            own(shared);
    }
    while (wait(NULL) > 0)
        continue;
    printf("%ld: %d entered, %d died in\n", now_us(), shared->entered, shared->deaths);
}

int main(void)
{
    struct shared *shared = make_shared();
    pid_t child = fork();
    int status;

    CHECK(child >= 0);
    if (child == 0) {
        signal_newborn();
        lose_owners(shared);
        fflush(stdout);
        _exit(0);
    }
    for (int number = 0; number < SESSIONS; number++)
        talk(number);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}
