/* What the programs about file times share: which times of a file a call has changed, and to what. */
#ifndef PARITY_FILE_TIMES_H
#define PARITY_FILE_TIMES_H

#include "check.h"

#include <sys/syscall.h>

#define TICK_NS (30 * MS) /* the kernel stamps with a coarse clock */

enum { KEEPS = 0, CHANGES = 1, WRITES = 3 }; /* bit 0: the time of change, bit 1: of writing */

static inline int64_t in_ns(struct timespec time)
{
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Changed, to the present; or kept. */
static inline void check_stamp(int line, const char *which, int64_t before_ns, int64_t after_ns, int moves, int64_t start_ns)
{
    int is_new = after_ns >= start_ns - TICK_NS && after_ns <= clock_ns(CLOCK_REALTIME);

    if (moves ? !is_new : after_ns != before_ns)
        check_failed(__FILE__, line, which);
}

/* Do something and see which times of the file at `path` it has changed. */
#define STEP(path, effect, call)                                                                      \
    do {                                                                                              \
        struct stat before_, after_;                                                                  \
        int64_t start_ns_;                                                                            \
                                                                                                      \
        sleep_ms(60);                                                                                 \
        start_ns_ = clock_ns(CLOCK_REALTIME);                                                         \
        CHECK(lstat(path, &before_) == 0);                                                            \
        CHECK((long)(call) >= 0);                                                                     \
        CHECK(lstat(path, &after_) == 0);                                                             \
        check_stamp(__LINE__, "written: " #call, in_ns(before_.st_mtim), in_ns(after_.st_mtim), (effect) & 2, start_ns_); \
        check_stamp(__LINE__, "changed: " #call, in_ns(before_.st_ctim), in_ns(after_.st_ctim), (effect) & 1, start_ns_); \
    } while (0)

/* A file that has just been made bears the present three times. */
#define CHECK_NEW(path)                                                                               \
    do {                                                                                              \
        struct stat status_;                                                                          \
        int64_t start_ns_ = clock_ns(CLOCK_REALTIME) - TICK_NS;                                       \
                                                                                                      \
        CHECK(lstat(path, &status_) == 0);                                                            \
        check_stamp(__LINE__, "new: " path, 0, in_ns(status_.st_atim), 1, start_ns_);                 \
        check_stamp(__LINE__, "new: " path, 0, in_ns(status_.st_mtim), 1, start_ns_);                 \
        check_stamp(__LINE__, "new: " path, 0, in_ns(status_.st_ctim), 1, start_ns_);                 \
    } while (0)

#endif
