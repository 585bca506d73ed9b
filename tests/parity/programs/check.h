/* What every parity program shares: CHECK, clocks in nanoseconds, and how a program says that it succeeded.
 * Include it first: it asks for the GNU interfaces. */
#ifndef PARITY_CHECK_H
#define PARITY_CHECK_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C(1000000) /* one millisecond in nanoseconds */

/* The condition must hold; else this process says where it did not, and exits 1. */
#define CHECK(condition)                                    \
    do {                                                    \
        if (!(condition))                                   \
            check_failed(__FILE__, __LINE__, #condition);   \
    } while (0)

/* The call must have failed with this errno. */
#define CHECK_ERRNO(call, wanted)                                     \
    do {                                                              \
        errno = 0;                                                    \
        CHECK((long)(call) == -1);                                    \
        if (errno != (wanted))                                        \
            check_failed(__FILE__, __LINE__, #call " == " #wanted);   \
    } while (0)

/* At least (exactly) and at most (loosely, see tolerance_ns) so long ago. */
#define CHECK_ELAPSED(start_ns, wanted_ms) check_elapsed(__FILE__, __LINE__, (start_ns), (wanted_ms))

/* The child ended by itself with status 0. */
#define CHECK_CHILD(child) check_child(__FILE__, __LINE__, (child))

static inline void check_failed(const char *file, int line, const char *condition)
{
    dprintf(STDERR_FILENO, "%s:%d: failed: %s (errno %d: %s)\n", file, line, condition, errno, strerror(errno));
    _exit(1);
}

static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    CHECK(clock_gettime(clock, &now) == 0);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline int64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Emulated, computing takes hardly any virtual time; natively, this computer may be busy. Nothing but a tolerance may
 * depend on this. */
static inline int is_emulated(void)
{
    return getenv("PARITY_EMULATED") != NULL;
}

static inline int64_t tolerance_ns(void)
{
    return is_emulated() ? 10 * MS : 500 * MS;
}

static inline struct timespec timespec_from(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static inline void check_elapsed(const char *file, int line, int64_t start_ns, int64_t wanted_ms)
{
    int64_t elapsed_ns = now_ns() - start_ns;
    char text[100];

    snprintf(text, sizeof text, "elapsed %lld ns, wanted %lld ms", (long long)elapsed_ns, (long long)wanted_ms);
    if (elapsed_ns < wanted_ms * MS || elapsed_ns > wanted_ms * MS + tolerance_ns())
        check_failed(file, line, text);
}

static inline void check_child(const char *file, int line, pid_t child)
{
    int status = -1;
    char text[60];

    if (waitpid(child, &status, 0) != child || status != 0) {
        snprintf(text, sizeof text, "child %d ended with wait status %#x", (int)child, status);
        check_failed(file, line, text);
    }
}

/* Sleep for the whole time, whatever signals come. */
static inline void sleep_ms(int64_t ms)
{
    struct timespec left = timespec_from(ms * MS);

    while (nanosleep(&left, &left) != 0)
        CHECK(errno == EINTR);
}

static inline int succeed(void)
{
    CHECK(puts("EXIT-SUCCESS") >= 0 && fflush(stdout) == 0);
    return 0;
}

#endif
