// Clocks that do not exist cannot be read, set or slept by, whichever errno the kernel has for it; CPU clocks of ended processes do
// not exist.
#include "check.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define CPU_CLOCK(pid) (int)(~(unsigned)(pid) << 3 | 2)
#define CPU_CLOCK_OF_THREAD(tid) (int)(~(unsigned)(tid) << 3 | 6)
#define CLOCK_OF_DESCRIPTOR(fd) (int)(~(unsigned)(fd) << 3 | 3)

static struct timespec time_now;

static void check_missing(int clock_id)
{
    struct timespec soon = {0, 1000};
    timer_t timer;

    CHECK_ERRNO(clock_gettime(clock_id, &time_now), EINVAL);
    CHECK_ERRNO(syscall(SYS_clock_gettime, clock_id, &time_now), EINVAL);
    CHECK_ERRNO(clock_getres(clock_id, &time_now), EINVAL);
    CHECK_ERRNO(syscall(SYS_clock_getres, clock_id, NULL), EINVAL);
    CHECK_ERRNO(syscall(SYS_clock_settime, clock_id, &soon), EINVAL);
    CHECK_ERRNO(syscall(SYS_timer_create, clock_id, NULL, &timer), (clock_id & 7) == 3 && clock_id < 0 ? EOPNOTSUPP : EINVAL);
    CHECK_ERRNO(syscall(SYS_clock_nanosleep, clock_id, 0, &soon, NULL),
                (clock_id & 7) == 3 && clock_id < 0 ? EOPNOTSUPP : EINVAL);
}

/* Clocks that nobody sets, and those that only root might. */
static void check_setting(void)
{
    static const int unsettable[] = {CLOCK_MONOTONIC,        CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
                                     CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME,      CLOCK_BOOTTIME_ALARM,
                                     CLOCK_REALTIME_ALARM,   CLOCK_TAI,           CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
    struct timespec first = {1, 0}, bad = {1, 1000000000}, negative = {-1, 0};

    for (size_t i = 0; i < sizeof unsettable / sizeof unsettable[0]; i++)
        CHECK_ERRNO(clock_settime(unsettable[i], &first), EINVAL);
    CHECK_ERRNO(syscall(SYS_clock_settime, CLOCK_REALTIME, NULL), EFAULT);
    CHECK_ERRNO(clock_settime(CLOCK_REALTIME, &bad), EINVAL);
    CHECK_ERRNO(clock_settime(CLOCK_REALTIME, &negative), EINVAL);
    CHECK_ERRNO(syscall(SYS_clock_settime, CPU_CLOCK(0), &first), EPERM);
    CHECK_ERRNO(syscall(SYS_settimeofday, &(struct timeval){1, 1000000}, NULL), EINVAL);
}

static void *end(void *tid)
{
    *(pid_t *)tid = (pid_t)syscall(SYS_gettid);
    return NULL;
}

static void check_processes(void)
{
    pid_t child = fork();
    pthread_t thread;
    pid_t tid;

    if (child == 0)
        _exit(0);
    CHECK(clock_gettime(CPU_CLOCK(child), &time_now) == 0);
    CHECK_ERRNO(clock_gettime(CPU_CLOCK_OF_THREAD(child), &time_now), EINVAL); /* of another process */
    CHECK_CHILD(child);
    check_missing(CPU_CLOCK(child));
    check_missing(CPU_CLOCK_OF_THREAD(child));
    CHECK(pthread_create(&thread, NULL, end, &tid) == 0 && pthread_join(thread, NULL) == 0);
    check_missing(CPU_CLOCK_OF_THREAD(tid));
    CHECK(clock_gettime(CPU_CLOCK(getppid()), &time_now) == 0);
    CHECK(clock_gettime(CPU_CLOCK(0), &time_now) == 0 && clock_gettime(CPU_CLOCK_OF_THREAD(0), &time_now) == 0);
}

int main(void)
{
    check_missing(-1);
    check_missing(12);
    check_missing(50);
    check_missing(CLOCK_OF_DESCRIPTOR(0));
    check_missing(CLOCK_OF_DESCRIPTOR(1000));
    check_missing(CPU_CLOCK(4000000));
    check_setting();
    check_processes();
    return succeed();
}
